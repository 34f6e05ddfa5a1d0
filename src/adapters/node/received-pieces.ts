import type { IncomingMessage } from 'node:http'
import { AuthError } from '../../errors.js'

/**
 * A request body piece by piece. The connection reads no faster than the pieces are taken. A reader that stops early leaves
 * the rest unread, and the connection open for the answer.
 *
 * @throws {AuthError} `payload_too_large`; `invalid_request` when the client has gone
 */
export function receivePieces(req: IncomingMessage, limitBytes: number): AsyncIterable<Uint8Array> {
  if (Number(req.headers['content-length']) > limitBytes) throw new AuthError('payload_too_large')
  return taken(req, limitBytes)
}

async function* taken(req: IncomingMessage, limitBytes: number): AsyncGenerator<Uint8Array> {
  let size = 0
  const chunks: AsyncIterator<unknown> = req.iterator({ destroyOnReturn: false })
  for (;;) {
    const { done, value } = await chunks.next().catch((cause: unknown) => {
      throw new AuthError('invalid_request', { cause, explain: 'client: it has gone' })
    })
    if (done === true) break
    if (!(value instanceof Uint8Array)) throw new TypeError('The body was decoded before.')
    size += value.length
    if (size > limitBytes) throw new AuthError('payload_too_large')
    yield value
  }
  // Node ends the stream of a client that has gone, too.
  if (!req.complete) throw new AuthError('invalid_request', { explain: 'client: it has gone' })
}
