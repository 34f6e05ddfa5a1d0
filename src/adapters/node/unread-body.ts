import type { ServerResponse } from 'node:http'
import { realTimer } from '../../lib/runtime.js'
import type { NodeRequest } from './message.js'

/** How long the end of an answer waits for the rest of a body: as long as bytes come, and for 5 s at most. */
const rest = { idleMs: 500, mostMs: 5_000 }

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

/** Whether closing the connection now would reset it. Node itself reads the rest of a body that no route began to read, if it stays open. */
export function isCutOff(req: NodeRequest, res: ServerResponse): boolean {
  if (req.httpVersionMajor !== 1 || req.complete !== false || req.destroyed || res.destroyed) return false
  const { headers } = req
  if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined) return false
  return req.readableDidRead || !res.shouldKeepAlive || res.getHeader('connection') === 'close'
}
