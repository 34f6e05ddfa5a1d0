import { AuthError } from '../errors.js'
import type { Ports } from '../ports.js'
import type { LimitKind, Logger } from '../settings.js'
import type { HttpResponse } from './message.js'

/** The result of the limit per client address. */
export interface LimitedRequest {
  /** Headers for the response, refused or not. */
  headers: HttpResponse['headers']
  /** `rate_limited`, or null when the request may continue. */
  fault: AuthError | null
}

/**
 * Counts one request. Rejects when it cannot be counted, and then the request must not continue.
 *
 * @param known finds the valid credential of a request whose address is over its limit; null: none
 */
export type RequestLimits = (
  kind: LimitKind,
  ip: string | null,
  known?: () => Promise<string | null>,
) => Promise<LimitedRequest>

const unlimited: LimitedRequest = { headers: {}, fault: null }

/**
 * Counts requests by client address and writes the headers of draft-ietf-httpapi-ratelimit-headers-10. They describe the
 * address's bucket only, since an account's bucket would reveal that it exists. Unknown addresses are not counted: sharing
 * one bucket would let each client lock out the others. Where the address is over its limit, a known credential has a bucket of its
 * own, so strangers behind the address do not lock it out; the headers still describe that of the address.
 */
export function createRequestLimits({ limiter }: Pick<Ports, 'limiter'>, logger: Logger): RequestLimits {
  let warned = false

  function warnOnce(): void {
    if (warned) return
    warned = true
    logger.warn(
      { event: 'client_ip_unknown' },
      'Requests come without a client address, so no limit per IP applies to them. Check trustedProxies, or pass `ip`.',
    )
  }

  async function count(kind: LimitKind, ip: string, known?: () => Promise<string | null>) {
    const address = await limiter.request(kind, ip)
    const credential = address?.allowed === false ? await known?.() : null
    return { address, decides: credential ? await limiter.known(kind, credential) : address }
  }

  return async (kind, ip, known) => {
    if (ip === null) {
      warnOnce()
      return unlimited
    }
    const { address, decides } = await count(kind, ip, known)
    if (address === null || decides === null) return unlimited
    const { limit, remaining, resetSeconds } = address
    return {
      headers: {
        'ratelimit-policy': `"${kind}";q=${limit.count};w=${limit.windowSeconds}`,
        ratelimit: `"${kind}";r=${remaining};t=${resetSeconds}`,
      },
      fault: decides.allowed ? null : new AuthError('rate_limited', { retryAfterSeconds: decides.resetSeconds }),
    }
  }
}
