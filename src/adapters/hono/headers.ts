import type { IncomingMessage } from 'node:http'
import { memberOf } from '../../lib/members.js'

/**
 * Whether the application will read the headers that were written to node's `incoming`.
 *
 * @hono/node-server copies the headers when they are first read, so a header written after that is lost. Reading one header
 * tells which case it is.
 */
export function askForHeader(raw: Request, requestId: string): boolean {
  const before = Object.getOwnPropertySymbols(raw)
  if (raw.headers.get('x-request-id') !== requestId) return false
  return Object.getOwnPropertySymbols(raw).filter((symbol) => !before.includes(symbol)).length === 1
}

/**
 * Whether @hono/node-server made the request of node's `incoming`. It did not make one that the application itself makes
 * while it handles another: that request is judged by its own headers.
 */
export function isMadeOf(raw: Request, incoming: IncomingMessage): boolean {
  return Object.getOwnPropertySymbols(raw).some((key) => memberOf(raw, key) === incoming)
}
