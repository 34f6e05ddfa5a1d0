// node server.js <peer> [framework] [accounts] [issuer]: one contender in a process of its own. Tells its parent where it listens and
// who may get in; nobody signs in from here, since what a client leaves behind in node would be measured with the server.
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const [name, framework = 'express', accountCount = '16', issuer = null] = process.argv.slice(2)
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

const peer = await start({ baseUrl, file, accounts, server, framework, issuer })
if (peer.app) server.on('request', peer.app)
process.send({ baseUrl, accounts, credentials: peer.credentials, login: peer.login })

// Asked around each run: what a request costs in CPU time tells more than requests a second when the machine is busy.
process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send(user + system)
})

process.on('disconnect', () => {
  for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true })
  process.exit()
})
