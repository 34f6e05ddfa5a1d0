// node server.js <JSON>: one contender in a process of its own, as `serve` of process.js describes it. Tells its parent where it
// listens and who may get in; nobody signs in from here, since what a client leaves behind in node would be measured with the
// server. `leaves`: its database is there for the next process.
import { AsyncResource } from 'node:async_hooks'
import { rmSync } from 'node:fs'
import { createServer } from 'node:http'

// For each `process.nextTick` node makes an object with two keys of its own. Where three full collections in a row find none
// of them, V8 forgets their shape, and from then on each takes six times as long: a bare server on Hono then has 44,000
// requests a second in place of 54,000, until it ends. So that no contender draws that lot, one of the shape stays.
const [id, trigger] = Object.getOwnPropertySymbols(new AsyncResource('bench'))
globalThis.tickShape = { [id]: 1, [trigger]: 1, callback: stop, args: undefined }

const { peer: name, framework, issuer = null, port = 0, leaves = false, site } = JSON.parse(process.argv[2])
const { file, secrets, accounts } = site
const { start } = await import(`./peers/${name}.js`)
const server = createServer()
await new Promise((resolve) => server.listen(port, '127.0.0.1', resolve))

const boundPort = server.address().port
const baseUrl = `http://localhost:${boundPort}`
const peer = await start({ baseUrl, file, secrets, accounts, server, framework, issuer })
if (peer.app) server.on('request', peer.app)
process.send({ port: boundPort, baseUrl, accounts, credentials: peer.credentials, login: peer.login })

// Asked around each run: what a request costs in CPU time tells more than requests a second when the machine is busy.
process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send(user + system)
})

process.on('disconnect', stop)

function stop() {
  if (!leaves) for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true })
  process.exit()
}
