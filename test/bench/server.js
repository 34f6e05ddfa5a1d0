// node server.js <JSON>: one contender in a process of its own, as `serve` of process.js describes it. Tells its parent where it
// listens and who may get in; nobody signs in from here, since what a client leaves behind in node would be measured with the
// server. `leaves`: its database is there for the next process.
import { rmSync } from 'node:fs'
import { createServer } from 'node:http'

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

process.on('disconnect', () => {
  if (!leaves) for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true })
  process.exit()
})
