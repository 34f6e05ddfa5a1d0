// node server.js <peer> [framework] [accounts]: one contender in a process of its own. Tells its parent where it listens and how to get in.
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const [name, framework = 'express', accountCount = '16'] = process.argv.slice(2)
const { start } = await import(`./peers/${name}.js`)
const server = createServer()
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))

const baseUrl = `http://localhost:${server.address().port}`
const file = join(tmpdir(), `latchkey-bench-${randomUUID()}.db`)
// A UUID can hold `ada`, and a password like the address would be refused.
const accounts = Array.from({ length: Number(accountCount) }, (_, index) => ({
  email: `reader${index}@example.com`,
  password: `difference-engine-${randomUUID()}`,
}))

const peer = await start({ baseUrl, file, accounts, server, framework })
if (peer.app) server.on('request', peer.app)
const credentials = peer.ready ? await peer.ready() : peer.credentials
process.send({ baseUrl, credentials, login: peer.login })

// Asked around each run: what a request costs in CPU time tells more than requests a second when the machine is busy.
process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send(user + system)
})

process.on('disconnect', () => {
  for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true })
  process.exit()
})
