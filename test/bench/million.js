// node million.js <count>: sends that many distinct valid session tokens through the guard, each once. Tells its parent the
// memory before, at most and after; before and after with the garbage collected.
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createAuth } from '../../dist/index.js'
import { configuration } from './peers/latchkey-settings.js'
import { signedLike } from './session-tokens.js'

let peak = null

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc')

const count = Number(process.argv[2])
const origin = 'http://localhost:3000'
const file = join(tmpdir(), `latchkey-bench-${randomUUID()}.db`)
const settings = configuration(origin, file)
const auth = createAuth(settings)
await auth.ready()
const sign = signedLike(await signIn(), settings.JWT_ACCESS_TOKEN_SECRET)

await send(20_000)
const before = await settled()
peak = { ...before }
const began = performance.now()
await send(count)
const seconds = (performance.now() - began) / 1000
process.send({ before, peak, after: await settled(), seconds })

process.on('disconnect', async () => {
  await auth.close()
  for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true })
  process.exit()
})

/**
 * What is in use when nothing more can be collected. Node's own `Request` keeps what a copy of it follows (its signal) until
 * a finalizer has run, which is in a turn of its own after the collection that finds the copy dead.
 */
async function settled() {
  for (let turn = 0; turn < 3; turn += 1) {
    collect()
    await setTimeout(100)
  }
  collect()
  return process.memoryUsage()
}

async function send(tokens) {
  for (let index = 0; index < tokens; index += 1) {
    const request = new Request(`${origin}/api/hello`, { headers: { authorization: `Bearer ${sign()}` } })
    const response = await auth.fetch(request, { ip: '127.0.0.1', next: () => new Response(null, { status: 204 }) })
    if (response.status !== 204) throw new Error(`refused: ${response.status}`)
    // Timers have their turn as they would between requests: batches are written, the change feed is read.
    if (index % 64 === 0) await new Promise((resolve) => setImmediate(resolve))
    if (peak && index % 4096 === 0) notePeak()
  }
}

function notePeak() {
  const now = process.memoryUsage()
  for (const key of ['heapUsed', 'rss']) peak[key] = Math.max(peak[key], now[key])
}

async function signIn() {
  const account = { email: 'ada@example.com', password: `difference-engine-${randomUUID()}` }
  await auth.users.create({ ...account, emailVerified: true })
  const response = await auth.fetch(
    new Request(`${origin}/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-auth-mode': 'token' },
      body: JSON.stringify(account),
    }),
    { ip: '127.0.0.1' },
  )
  return (await response.json()).accessToken
}
