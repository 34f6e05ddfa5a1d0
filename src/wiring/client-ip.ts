import type { HttpRequest } from '../http/message.js'
import { createClientIp } from '../lib/client-ip.js'
import type { Settings } from '../settings.js'

/** Headers in which proxies name the client. The first is the one that `trustedProxies` makes Latchkey read. */
const forwardingHeaders = ['x-forwarded-for', 'forwarded', 'x-real-ip'] as const

const remedy =
  'A request has a forwarding header, but trustedProxies is not set. The header is ignored, so all users behind a proxy ' +
  'count as one client, with one limit. If a proxy stands in front, set trustedProxies to its addresses or CIDRs, or to ' +
  'the number of proxies. If none does, a client made the header up and there is nothing to do.'

/**
 * Finds the address of a request's client. Logs the first forwarding header that is ignored, once: without `trustedProxies`
 * a site behind a proxy looks like a single client, which only shows under load.
 */
export function createRequestIp({
  trustedProxies,
  development,
  logger,
}: Pick<Settings, 'trustedProxies' | 'development' | 'logger'>): (request: HttpRequest) => string | null {
  const clientIp = createClientIp(trustedProxies)
  let watching = trustedProxies.kind === 'none' && !development

  function warnIfIgnored({ headers }: HttpRequest): void {
    const header = forwardingHeaders.find((name) => headers[name] !== undefined)
    if (header === undefined) return
    watching = false
    logger.warn({ event: 'forwarding_ignored', header }, remedy)
  }

  return (request) => {
    if (watching) warnIfIgnored(request)
    return clientIp(request.ip, request.headers)
  }
}
