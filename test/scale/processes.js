// Starting and ending what a run needs. Every process is remembered, so that none outlives the run.
import { fork, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'

const running = new Set()

/** Starts a script of this folder with options as JSON; resolves with its first message, which says that it is ready. */
export async function forkScript(script, options) {
  const child = fork(fileURLToPath(new URL(script, import.meta.url)), [JSON.stringify(options)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  remember(child)
  const ended = once(child, 'exit').then(([code, signal]) => {
    throw new Error(`${script} ended (${signal ?? code}) before it was ready`)
  })
  const [ready] = await Promise.race([once(child, 'message'), ended])
  ended.catch(() => {})
  return { child, ready }
}

/** Starts a server that is not ours; what it prints is dropped. */
export function start(file, commandArguments) {
  const child = spawn(file, commandArguments, { stdio: 'ignore' })
  remember(child)
  return child
}

/** Runs a command to its end; throws with what it printed when it fails. */
export function run(file, commandArguments) {
  const { status, stdout, stderr, error } = spawnSync(file, commandArguments, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${file} ${commandArguments.join(' ')}\n${error?.message ?? stdout + stderr}`)
  return stdout
}

export async function kill(child, signal = 'SIGKILL') {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill(signal)
  await ended
}

export async function killAll() {
  await Promise.all([...running].map((child) => kill(child)))
}

export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}

export function sleep(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}

function remember(child) {
  running.add(child)
  child.once('exit', () => running.delete(child))
}
