import type { ServerResponse } from 'node:http'
import { AuthError } from '../../errors.js'
import type { NodeRequest } from './message.js'

/**
 * A request body piece by piece. The connection reads no faster than the pieces are taken. A reader that stops early leaves
 * the rest unread, and the connection open for the answer.
 *
 * @throws {AuthError} `payload_too_large`; `invalid_request` when the client has gone
 */
export function receivePieces(req: NodeRequest, limitBytes: number): AsyncIterable<Uint8Array> {
  if (Number(req.headers['content-length']) > limitBytes) throw new AuthError('payload_too_large')
  return taken(req, limitBytes)
}

async function* taken(req: NodeRequest, limitBytes: number): AsyncGenerator<Uint8Array> {
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

/** For pieces that are not sent: lets their source end. */
export function cancelPieces(pieces: AsyncIterable<Uint8Array>): void {
  pieces[Symbol.asyncIterator]()
    .return?.()
    .catch(() => {})
}

/**
 * Sends pieces at the pace of the client. When the client leaves, the iterator's `return` is called at once. An error of the
 * iterator cuts the answer off, so that the client does not take a part for the whole.
 */
export async function sendPieces(res: ServerResponse, pieces: AsyncIterable<Uint8Array>): Promise<void> {
  const iterator = pieces[Symbol.asyncIterator]()
  let isOver = false
  let wake = () => {}
  const stop = () => {
    wake()
    if (isOver) return
    isOver = true
    iterator.return?.().catch(() => {})
  }
  if (res.destroyed) return stop()
  res.once('close', stop)
  res.on('drain', () => wake())
  // The client learns at once that its request was accepted.
  res.flushHeaders()
  try {
    for (;;) {
      const { done, value } = await iterator.next()
      if (isOver) return
      if (done === true) break
      if (res.write(value)) continue
      await new Promise<void>((resolve) => {
        wake = resolve
      })
      if (isOver) return
    }
    isOver = true
    res.end()
  } catch {
    isOver = true
    res.destroy()
  }
}
