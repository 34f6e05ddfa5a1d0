// Client process: asks one URL by 32 connections, each as soon as it has its answer. A bare framework answers faster than a
// full HTTP client can ask, and then it is the client that is measured; this one writes a prepared request and, after the
// first answer of a slice, compares little more than lengths.
import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { connect } from 'node:net'
import { percentile } from './numbers.js'

const connections = 32

/** By port: what a server does for a new connection is none of the guard's doing, so they are kept from slice to slice. */
const open = new Map()

process.on('message', async ({ url, headers, seconds }) => {
  const { hostname, port, host, pathname, search } = new URL(url)
  const lines = Object.entries({ host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  const request = Buffer.from(`GET ${pathname}${search} HTTP/1.1\r\n${lines.join('')}\r\n`)
  const sockets = await connected(hostname, port)
  const taken = { requests: 0, latencies: [] }
  const began = performance.now()
  const end = began + seconds * 1000
  await Promise.all(sockets.map((socket) => keepAsking(socket, { request, end, taken })))
  const perSecond = (taken.requests / (performance.now() - began)) * 1000
  process.send({ requests: taken.requests, perSecond, p99: percentile(taken.latencies, 0.99) })
})
process.on('disconnect', () => process.exit())
process.send('ready')

/** Open connections to that server, those of the last time where it has not closed them since. */
async function connected(host, port) {
  const before = open.get(port) ?? []
  if (before.length > 0 && before.every((socket) => !socket.destroyed)) return before
  for (const socket of before) socket.destroy()
  const { address } = await lookup(host, 4)
  const sockets = Array.from({ length: connections }, () => connect({ host: address, port, noDelay: true }))
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  // Whatever goes wrong closes it as well.
  for (const socket of sockets) socket.on('error', () => {})
  open.set(port, sockets)
  return sockets
}

/** One connection: resolves with the answer that comes at or after `end`, rejects with one that is no 2xx. */
function keepAsking(socket, { request, end, taken }) {
  return new Promise((resolve, reject) => {
    let sentAt = 0
    let isFirst = true
    /** Bytes of an answer, of which all but the date are the same each time. */
    let usual = 0
    let kept = null
    const isGone = () => reject(new Error('the server closed a connection'))
    if (socket.destroyed) return isGone()
    socket.on('close', isGone).on('data', take)
    send()

    function take(chunk) {
      if (kept !== null || chunk.length !== usual) {
        kept = kept === null ? chunk : Buffer.concat([kept, chunk])
        if (!isWhole(kept)) return
        usual = kept.length
      }
      const answer = kept ?? chunk
      kept = null
      // `2` of `HTTP/1.1 200`.
      if (answer[9] !== 0x32) return reject(new Error(`refused: ${answer.latin1Slice(0, 400)}`))
      const now = performance.now()
      taken.requests += 1
      // The first one waited while the other connections were being asked.
      if (isFirst) isFirst = false
      else taken.latencies.push(now - sentAt)
      if (now < end) return send()
      socket.off('close', isGone).off('data', take)
      resolve()
    }

    function send() {
      sentAt = performance.now()
      socket.write(request)
    }
  })
}

function isWhole(answer) {
  const text = answer.latin1Slice()
  const border = text.indexOf('\r\n\r\n')
  if (border === -1) return false
  const head = text.slice(0, border)
  const [, length] = /\r\ncontent-length: *(\d+)/i.exec(head) ?? []
  if (length !== undefined) return text.length >= border + 4 + Number(length)
  if (!/\r\ntransfer-encoding: *chunked/i.test(head)) throw new Error(`an answer of unknown length: ${head}`)
  return text.endsWith('\r\n0\r\n\r\n')
}
