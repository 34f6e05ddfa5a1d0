// `latchkey serve` under a supervisor that starts it again, and what can be killed of it.
import { fileURLToPath } from 'node:url'
import { childrenOf } from '../../bench/host/processes.js'
import { startHost } from '../../bench/host/serving.js'
import { sleep } from '../processes.js'

const killable = fileURLToPath(new URL('killable-threads.mjs', import.meta.url))
const restartMs = 200

/** Starts the host of this folder, and starts it again whenever it ends. `output` keeps its last lines. */
export function supervise(folder) {
  let child = null
  let isStopping = false
  let output = ''
  const kills = { front: 0, 'data thread': 0, child: 0 }
  const exits = []

  function start() {
    child = startHost(folder, { execArgv: ['--import', killable] })
    const keep = (piece) => {
      output = `${output}${piece}`.slice(-20_000)
    }
    child.stdout.on('data', keep)
    child.stderr.on('data', keep)
    child.once('exit', async (code, signal) => {
      if (signal !== 'SIGKILL' && !isStopping) exits.push(`code ${code}, signal ${signal}`)
      await sleep(restartMs)
      if (!isStopping) start()
    })
  }
  start()

  return {
    kills,
    /** Ends of the front that nothing here caused. */
    exits,
    output: () => output,
    killFront() {
      kills.front += 1
      child.kill('SIGKILL')
    },
    killThread() {
      kills['data thread'] += 1
      child.kill('SIGUSR2')
    },
    /** One process of a space, at the end of what the front started for it. */
    killChild() {
      const leaves = leavesOf(child.pid)
      const pid = leaves[Math.floor(Math.random() * leaves.length)]
      if (pid === undefined) return
      kills.child += 1
      try {
        process.kill(pid, 'SIGKILL')
      } catch {
        // It ended meanwhile.
      }
    },
    async stop() {
      isStopping = true
      child.kill('SIGTERM')
      for (let tries = 0; tries < 450 && child.exitCode === null && child.signalCode === null; tries += 1)
        await sleep(100)
      child.kill('SIGKILL')
    },
  }
}

function leavesOf(pid) {
  return childrenOf(pid).flatMap((child) => {
    const below = leavesOf(child)
    return below.length === 0 ? [child] : below
  })
}
