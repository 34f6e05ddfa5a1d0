import type { ServerResponse } from 'node:http'
import { realTimer } from '../../lib/runtime.js'
import type { NodeRequest } from './message.js'

/** How long the end of an answer waits for the rest of a body: as long as bytes come, and for 5 s at most. */
const rest = { idleMs: 500, mostMs: 5_000 }
/** What an answer holds back at most while the body still comes: some ten million lines of an import. Beyond, it starts all the same. */
const mostHeldBytes = 1024 * 1024

/**
 * Ends an answer that was written. A connection that is closed before all that the client sent was read is reset, and the client
 * may lose the answer (RFC 9112 §9.6). So the rest of the body is read first, and dropped.
 */
export function endAfterBody(req: NodeRequest, res: ServerResponse): void {
  if (!isCutOff(req, res)) return void res.end()
  const end = () => {
    stopIdle()
    stopAll()
    res.end()
  }
  let stopIdle = realTimer(rest.idleMs, end)
  const stopAll = realTimer(rest.mostMs, end)
  req.once('end', end).once('close', end)
  // A route that read pieces keeps the stream from flowing, also after it has left.
  req.on('readable', () => {
    while (req.read() !== null);
    stopIdle()
    stopIdle = realTimer(rest.idleMs, end)
  })
}

/** Whether more of the body may come. */
function hasMore(req: NodeRequest): boolean {
  if (req.httpVersionMajor !== 1 || req.complete !== false || req.destroyed) return false
  return req.headers['content-length'] !== undefined || req.headers['transfer-encoding'] !== undefined
}

/** Whether closing the connection now would reset it. Node itself reads the rest of a body that no route began to read, if it stays open. */
export function isCutOff(req: NodeRequest, res: ServerResponse): boolean {
  if (!hasMore(req) || res.destroyed) return false
  return req.readableDidRead || !res.shouldKeepAlive || res.getHeader('connection') === 'close'
}

interface Start {
  /** Whether the piece waits for the start. */
  holds(piece: Uint8Array): boolean
  now(): void
}

/**
 * Starts an answer in pieces when the body was read to its end: nginx passes on no more of a body once it has the head of the
 * answer. Without a body it starts at once, so that the client learns that its request was accepted.
 */
export function startAfterBody(req: NodeRequest, res: ServerResponse): Start {
  const held: Uint8Array[] = []
  let heldBytes = 0
  let hasStarted = false
  const now = () => {
    if (hasStarted || res.destroyed) return
    hasStarted = true
    res.flushHeaders()
    for (const piece of held.splice(0)) res.write(piece)
  }
  // The body of a GET is not read.
  if (hasMore(req) && req.method === 'POST') req.once('end', now)
  else now()
  return {
    holds(piece) {
      if (hasStarted) return false
      held.push(piece)
      heldBytes += piece.length
      if (heldBytes > mostHeldBytes) now()
      return true
    },
    now,
  }
}
