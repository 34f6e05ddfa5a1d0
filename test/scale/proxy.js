// node proxy.js {port}: stands before PostgreSQL. Its parent slows it down (a slow disk, a far network) or cuts it.
import { connect, createServer } from 'node:net'

const { port } = JSON.parse(process.argv[2])
const pairs = new Set()
/** `latencyMs` each way; `bytesPerSecond` of each connection; `refuse`: whoever comes is sent away. */
let weather = { latencyMs: 0, bytesPerSecond: 1e12, refuse: false }
let bytes = 0

const server = createServer((client) => {
  if (weather.refuse) return client.destroy()
  const upstream = connect(port, '127.0.0.1')
  const pair = [client, upstream]
  pairs.add(pair)
  for (const [from, to] of [pair, pair.toReversed()]) {
    from.setNoDelay(true)
    carry(from, to)
    from.on('error', () => to.destroy())
    from.on('close', () => {
      to.destroy()
      pairs.delete(pair)
    })
  }
})

server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }))

process.on('message', (message) => {
  if (message.cut) for (const pair of pairs) for (const socket of pair) socket.resetAndDestroy()
  if (message.weather) weather = { ...weather, ...message.weather }
  process.send({ bytes })
})
process.on('disconnect', () => process.exit())

/** In order, each piece no sooner than the latency and the width of the line allow. */
function carry(from, to) {
  let freeAt = 0
  from.on('data', (piece) => {
    bytes += piece.length
    const { latencyMs, bytesPerSecond } = weather
    const now = performance.now()
    freeAt = Math.max(freeAt, now + latencyMs) + (1000 * piece.length) / bytesPerSecond
    if (freeAt <= now) to.write(piece)
    else setTimeout(() => to.write(piece), freeAt - now)
  })
  from.on('end', () => setTimeout(() => to.end(), Math.max(0, freeAt - performance.now())))
}
