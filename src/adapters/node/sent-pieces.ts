import type { ServerResponse } from 'node:http'
import { realTimer } from '../../lib/runtime.js'
import type { NodeRequest } from './message.js'
import { startAfterBody } from './unread-body.js'

/** A client that takes nothing for two minutes is cut off: its answer holds memory and a connection. */
const longestStallMs = 120_000
/** A longer piece is sent in parts, so that a slow client is seen to take them. */
const partBytes = 256 * 1024

/** For pieces that are not sent: lets their source end. */
export function cancelPieces(pieces: AsyncIterable<Uint8Array>): void {
  pieces[Symbol.asyncIterator]()
    .return?.()
    .catch(() => {})
}

/**
 * Sends pieces at the pace of the client. When the client leaves, the iterator's `return` is called at once. An error of the
 * iterator cuts the answer off, so that the client does not take a part for the whole; so does a client that takes nothing for
 * two minutes.
 *
 * @param end called after the last piece
 */
export async function sendPieces(
  req: NodeRequest,
  res: ServerResponse,
  pieces: AsyncIterable<Uint8Array>,
  end: () => void,
): Promise<void> {
  const iterator = pieces[Symbol.asyncIterator]()
  let isOver = false
  let wake = () => {}
  const drained = () =>
    new Promise<void>((resolve) => {
      const cancel = realTimer(longestStallMs, () => res.destroy())
      wake = () => {
        cancel()
        resolve()
      }
    })
  const stop = () => {
    wake()
    if (isOver) return
    isOver = true
    iterator.return?.().catch(() => {})
  }
  if (res.destroyed) return stop()
  res.once('close', stop)
  res.on('drain', () => wake())
  const start = startAfterBody(req, res)
  try {
    for (;;) {
      const { done, value } = await iterator.next()
      if (isOver) return
      if (done === true) break
      for (let at = 0; at < value.length; at += partBytes) {
        const part = value.subarray(at, at + partBytes)
        if (start.holds(part) || res.write(part)) continue
        await drained()
        if (isOver) return
      }
    }
    isOver = true
    start.now()
    end()
  } catch {
    isOver = true
    res.destroy()
  }
}
