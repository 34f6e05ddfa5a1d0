import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

/** A request that was read and may have to wait. */
export interface QueuedRequest {
  /** Called once the answers before it have left. */
  start(): void
  /** Called instead of `start` when the connection ends first. */
  drop(): void
}

/** The requests of all connections of a server. */
export interface RequestQueue {
  /** Starts a request now, or after the requests of its connection that came before it. `take` is not called when there is no place. */
  enter(request: IncomingMessage, response: ServerResponse, take: () => QueuedRequest): void
  /** Whether a request of the connection has no complete answer yet. */
  isAnswering(socket: Duplex): boolean
}

/** A client that pipelines more than this many requests behind the running one is cut off. */
const mostWaiting = 16

interface Connection {
  running: ServerResponse
  waiting: { response: ServerResponse; queued: QueuedRequest }[]
}

/**
 * Runs one request of a connection at a time. Node starts pipelined requests at once and holds their answers back, so one client
 * could start thousands with a few bytes each (CWE-770). While a request waits, the socket is paused: no more are read. A request
 * starts without a timeout of its socket.
 */
export function createRequestQueue(): RequestQueue {
  const connections = new WeakMap<Duplex, Connection>()

  function run(connection: Connection, socket: Socket, response: ServerResponse, queued: QueuedRequest): void {
    connection.running = response
    // Node ends the timeout of the answer before only for a request that comes after it, not for a pipelined one.
    if (socket.timeout) socket.setTimeout(0)
    response.once('close', () => startNext(connection, socket))
    queued.start()
  }

  function startNext(connection: Connection, socket: Socket): void {
    const next = connection.waiting.shift()
    if (next === undefined) return
    // After an answer that closes the connection, the requests behind it are dropped.
    if (socket.destroyed || socket.writableEnded) {
      for (const { queued } of [next, ...connection.waiting.splice(0)]) queued.drop()
      return
    }
    if (connection.waiting.length === 0) socket.resume()
    // Node has resumed the socket to read the rest of the request before.
    else socket.pause()
    run(connection, socket, next.response, next.queued)
  }

  return {
    enter(request, response, take) {
      const { socket } = request
      // Node reports the rest of what it has read, also after the connection was cut off.
      if (socket.destroyed) return
      const connection = connections.get(socket)
      if (connection === undefined) {
        const first: Connection = { running: response, waiting: [] }
        connections.set(socket, first)
        socket.once('close', () => {
          for (const waiting of first.waiting.splice(0)) waiting.queued.drop()
        })
        run(first, socket, response, take())
      } else if (connection.running.closed && connection.waiting.length === 0) {
        run(connection, socket, response, take())
      } else if (connection.waiting.length >= mostWaiting) {
        socket.destroy()
      } else {
        connection.waiting.push({ response, queued: take() })
        socket.pause()
      }
    },
    isAnswering: (socket) => connections.get(socket)?.running.closed === false,
  }
}
