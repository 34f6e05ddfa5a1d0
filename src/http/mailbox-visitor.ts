import { timingSafeEqual } from 'node:crypto'
import { isLoopbackIp } from '../lib/ip-address.js'
import { isLoopbackHost } from '../lib/url.js'
import { type HttpRequest, singleHeader } from './message.js'
import { queryOf } from './query.js'

const forwardingHeaders = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via']

/**
 * Whether the request comes from the developer's own machine: a loopback socket, a loopback `Host`, no forwarded headers,
 * and the key from the address that the console printed. The `Host` check stops DNS rebinding.
 */
export function isMailboxVisitor(request: HttpRequest, key: string | null): boolean {
  if (key === null || !isLoopbackIp(request.ip)) return false
  if (forwardingHeaders.some((name) => request.headers[name] !== undefined)) return false
  const host = singleHeader(request, 'host')
  if (host === null || !isLoopbackHost(host.replace(/:\d+$/, ''))) return false
  const given = Buffer.from(queryOf(request).get('key') ?? '')
  const expected = Buffer.from(key)
  return given.length === expected.length && timingSafeEqual(given, expected)
}
