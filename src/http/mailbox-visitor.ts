import { timingSafeEqual } from 'node:crypto'
import { canonicalIp } from '../lib/ip-address.js'
import { isLoopbackHost } from '../lib/url.js'
import { type HttpRequest, singleHeader } from './message.js'

const forwardingHeaders = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via']

/**
 * Whether this is the developer at their own machine: a loopback socket, a loopback `Host`, nothing forwarded, and the
 * key from the address that the console printed. A page that rebinds its name to 127.0.0.1 fails on the `Host`.
 */
export function isMailboxVisitor(request: HttpRequest, key: string | null): boolean {
  if (key === null || !isLoopbackIp(request.ip)) return false
  if (forwardingHeaders.some((name) => request.headers[name] !== undefined)) return false
  const host = singleHeader(request, 'host')
  if (host === null || !isLoopbackHost(host.replace(/:\d+$/, ''))) return false
  const given = Buffer.from(new URLSearchParams(request.query).get('key') ?? '')
  const expected = Buffer.from(key)
  return given.length === expected.length && timingSafeEqual(given, expected)
}

function isLoopbackIp(ip: string | null): boolean {
  const address = canonicalIp(ip)
  return address !== null && (address === '::1' || address.startsWith('127.'))
}
