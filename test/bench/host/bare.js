// node bare.js handler <socket or port> | proxy <socket>: the handlers of application.js without a host, and a proxy to them.
import { Agent, createServer, request } from 'node:http'

const [what, place] = process.argv.slice(2)
const chunk = Buffer.alloc(64 * 1024, 'x')
const server = createServer({ handler, proxy: proxyTo(place) }[what])
server.listen(what === 'handler' && place.startsWith('/') ? place : 0, () =>
  process.send(server.address().port ?? place),
)
process.on('disconnect', () => process.exit())

async function handler(asked, answer) {
  const [, route, mebibytes] = asked.url.split('/')
  if (route === 'hello') return json(answer, { hello: 'world' })
  if (route === 'down') return sendMebibytes(answer, Number(mebibytes))
  let bytes = 0
  for await (const piece of asked) bytes += piece.length
  return json(answer, { bytes })
}

function json(answer, value) {
  const text = JSON.stringify(value)
  answer.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }).end(text)
}

async function sendMebibytes(answer, mebibytes) {
  answer.writeHead(200, { 'content-type': 'application/octet-stream' })
  for (let left = mebibytes * 16; left > 0; left -= 1) {
    if (!answer.write(chunk)) await new Promise((resolve) => answer.once('drain', resolve))
  }
  answer.end()
}

function proxyTo(socketPath) {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  return (asked, answer) => {
    const { method, url: path, headers } = asked
    const onward = request({ socketPath, agent, method, path, headers }, (got) => {
      answer.writeHead(got.statusCode, got.headers)
      got.pipe(answer)
    })
    onward.on('error', () => answer.destroy())
    asked.pipe(onward)
  }
}
