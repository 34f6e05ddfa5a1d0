import type { Socket } from 'node:net'
import { AuthError } from '../../errors.js'

/** The part of a socket that we use; http2 gives one that only looks like it. */
type Peer = Pick<Socket, 'destroyed'> & { [Name in 'remoteAddress' | 'localAddress']?: string | undefined }

/**
 * The address of a socket's other end; null where it has none, as on a Unix socket.
 *
 * A client that resets its connection right behind its request leaves none either, and is nobody's to serve: no limit would
 * hold for it, and a trusted proxy on a Unix socket would look the same. A reset TCP socket still knows its own end.
 *
 * @throws {AuthError} `invalid_request` when nobody is there any more
 */
export function peerAddress(socket: Peer): string | null {
  const { remoteAddress } = socket
  if (remoteAddress !== undefined) return remoteAddress
  if (socket.destroyed || socket.localAddress !== undefined) {
    throw new AuthError('invalid_request', { explain: 'client: it has gone' })
  }
  return null
}
