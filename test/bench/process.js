// Contenders and clients are processes of their own, pinned apart where the machine can do it.
import { spawn, spawnSync } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
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

/**
 * Starts the server of a peer, signs in where somebody can, and waits until it can be measured. `issuer`: the URL of its
 * keys. `elsewhere`: who signs in does so at another process of the same site, which has ended by then: what sign-ins leave
 * behind in node's functions (bodies that were read, threads that hashed) slows down every later request a little, a bare
 * server's as well, and the guard has no part in it.
 */
export async function serve(
  peer,
  { core = null, framework = 'express', accounts = 16, issuer, elsewhere = false } = {},
) {
  const { signIn } = await import(`./peers/${peer}.js`)
  const given = { peer, framework, issuer, site: newSite(accounts) }
  const entrance = signIn && elsewhere ? await open({ ...given, leaves: true }, null) : null
  const before = entrance ? await signIn(entrance) : {}
  await entrance?.stop()
  const server = await open({ ...given, port: entrance?.port }, core)
  const after = signIn && !elsewhere ? await signIn(server) : {}
  return { ...server, credentials: { ...server.credentials, ...before, ...after } }
}

/** What all processes of one site have in common. */
function newSite(accounts) {
  return {
    file: join(tmpdir(), `latchkey-bench-${randomUUID()}.db`),
    secrets: [randomBytes(48).toString('base64url'), randomBytes(48).toString('base64url')],
    // A UUID can hold `ada`, and a password like the address would be refused.
    accounts: Array.from({ length: accounts }, (_, index) => ({
      email: `reader${index}@example.com`,
      password: `difference-engine-${randomUUID()}`,
    })),
  }
}

async function open(given, core) {
  const child = launch('server.js', [JSON.stringify(given)], core)
  const server = await message(child)
  return { ...server, pid: child.pid, cpu: () => ask(child, 'cpu'), stop: () => stop(child) }
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
