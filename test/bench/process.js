// Contenders and clients are processes of their own, pinned apart where the machine can do it.
import { spawn, spawnSync } from 'node:child_process'
import { cpus } from 'node:os'
import { fileURLToPath } from 'node:url'

const canPin = cpus().length > 1 && spawnSync('taskset', ['--version']).status === 0

/** Starts a script of this folder; `core` pins it. */
export function launch(script, scriptArguments = [], core = null) {
  const command = [process.execPath, fileURLToPath(new URL(script, import.meta.url)), ...scriptArguments]
  if (canPin && core !== null) command.unshift('taskset', '-c', String(core))
  const [file, ...rest] = command
  const child = spawn(file, rest, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  child.once('exit', (code) => {
    if (code) throw new Error(`${script} ${scriptArguments.join(' ')} ended with ${code}`)
  })
  return child
}

/** The next message of a child. */
export function message(child) {
  return new Promise((resolve) => child.once('message', resolve))
}

/** Starts the server of a peer, signs in where somebody can, and waits until it can be measured. `issuer`: the URL of its keys. */
export async function serve(peer, { core = null, framework = 'express', accounts = 16, issuer } = {}) {
  const child = launch('server.js', [peer, framework, String(accounts), ...(issuer ? [issuer] : [])], core)
  const server = await message(child)
  const { signIn } = await import(`./peers/${peer}.js`)
  const credentials = { ...server.credentials, ...(await signIn?.(server)) }
  return { ...server, credentials, pid: child.pid, cpu: () => ask(child, 'cpu'), stop: () => stop(child) }
}

/** Sends a message and waits for the answer. */
export function ask(child, question) {
  const answer = message(child)
  child.send(question)
  return answer
}

function stop(child) {
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.disconnect()
  return ended
}
