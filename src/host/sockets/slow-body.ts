import type { IncomingMessage } from 'node:http'

/** A body sends at least this much in each window, or ends in it: about 3.5 KB a second. */
export const slowBody = { windowMs: 300_000, bytes: 1024 * 1024 }

/**
 * Ends the connection of a client that sends its body too slowly (CWE-400). A large upload may take as long as it needs, and
 * a client that waits because the server has not read what it sent is not slow.
 */
export function endSlowBody(request: IncomingMessage): void {
  const { headers, socket } = request
  if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined) return

  let before = socket.bytesRead
  const timer = setInterval(() => {
    const isSlow = socket.bytesRead - before < slowBody.bytes && request.readableLength === 0
    before = socket.bytesRead
    if (request.complete) clearInterval(timer)
    else if (isSlow) socket.destroy()
  }, slowBody.windowMs)
  timer.unref()
  request.once('close', () => clearInterval(timer))
}
