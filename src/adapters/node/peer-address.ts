import type { Socket } from 'node:net'
import { AuthError } from '../../errors.js'

/** The part of a socket that we use; the socket of http2 only looks like one. */
type Peer = Pick<Socket, 'destroyed'> & { [Name in 'remoteAddress' | 'localAddress']?: string | undefined }

/**
 * The address of a socket's other end; null where it has none, as on a Unix socket.
 *
 * The socket of a client that resets its connection right after its request has none either. It must not be served: no limit
 * would apply to it, and a trusted proxy on a Unix socket would look the same. A reset TCP socket still has a local address.
 *
 * @throws {AuthError} `invalid_request` when the client is gone
 */
export function peerAddress(socket: Peer): string | null {
  const { remoteAddress } = socket
  if (remoteAddress !== undefined) return remoteAddress
  if (socket.destroyed || socket.localAddress !== undefined) {
    throw new AuthError('invalid_request', { explain: 'client: it has gone' })
  }
  return null
}
