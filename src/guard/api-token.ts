import { AuthError } from '../errors.js'
import { apiTokenMemorySeconds, apiTokenPurpose } from '../flows/control/api-tokens.js'
import { type HttpRequest, isSafeMethod } from '../http/message.js'
import type { RequestLimits } from '../http/request-limits.js'
import { createIpSet } from '../lib/ip-ranges.js'
import type { Keyring } from '../lib/keyring.js'
import { remember } from '../lib/remember.js'
import type { Moment, SharedClock } from '../lib/shared-clock.js'
import type { ApiTokenRecord } from '../model/api-token.js'
import type { ApiTokenPrincipal, Principal } from '../model/principal.js'
import type { ApiTokens } from '../store/api-tokens.js'
import type { VerifiedCache } from '../tokens/verified-cache.js'
import type { ApiTokenCheck } from './credentials.js'
import type { TokenChanges } from './token-changes.js'

/** A token as the store returned it, cached so that its next request needs one look-up in memory. */
export interface KnownApiToken {
  principal: ApiTokenPrincipal
  /** Unix seconds; null: never. */
  expiresAt: number | null
  /** Whether the token may be used from this address; null: from any address. */
  mayComeFrom: ((ip: string | null) => boolean) | null
  /** The position in the change feed when the read began. */
  mark: number
  /** When the read began, milliseconds of the monotonic clock. */
  readAtMs: number
  /** The latest recorded use, Unix seconds; null: none yet. */
  usedAt: number | null
}

export interface ApiTokenCheckOptions {
  apiTokens: Pick<ApiTokens, 'findByHash' | 'findAllByHash'>
  keyring: Pick<Keyring, 'digests'>
  /** Bounded; holds no failures. */
  cache: VerifiedCache<KnownApiToken>
  changes: TokenChanges
  limits: RequestLimits
  /** Whether unknown tokens of that address are refused until its window ends; then its reads are batched. No I/O. */
  isOverLimit(ip: string | null): boolean
  /** Between two batches of reads. */
  pause(): Promise<void>
  /** `at`: Unix seconds. */
  lastUses: { note(tokenId: string, at: number): void }
  clock: Pick<SharedClock, 'now' | 'monotonicMs'>
  clientIp(request: HttpRequest): string | null
  /** False when a number of proxies is trusted: a client that connects directly can then forge its address. */
  knowsClients: boolean
}

export interface ApiTokenGuard extends ApiTokenCheck {
  /** Whether this principal's token has been revoked or has expired, as far as this process knows. */
  isOver(principal: Principal): boolean
}

/** After this time a cached token is not used any more, milliseconds. */
const memoryMs = apiTokenMemorySeconds * 1000
/** After this time a token in use is read again in the background, so that no request waits. */
const refreshMs = memoryMs * 0.75

/** A UUID as we create it (RFC 9562 §5.4), in lower or upper case (§4). Nothing else is looked up. */
const uuid = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/

/**
 * Turns an API token into its principal, one frozen object per cached token. Every request checks expiry, networks, access
 * and the change feed. Synchronous for a token seen within the last minute; otherwise one read, which concurrent requests
 * share. Unknown and expired tokens get the same response and count against the client's address.
 */
export function createApiTokenCheck(options: ApiTokenCheckOptions): ApiTokenGuard {
  const { cache, changes, clock } = options
  const principals = new WeakMap<Principal, KnownApiToken>()
  const keep = (known: KnownApiToken) => principals.set(known.principal, known)
  const reads = createReads(options, (hashes) => options.apiTokens.findByHash(hashes), keep)
  // Of an address over its limit, all tokens are read together, so a valid one is found and a flood costs few queries.
  const batchedReads = createReads(options, createBatches(options), keep)

  function recall(token: string, at: Moment): KnownApiToken | null {
    const known = cache.get(token)
    if (known === null || changes.isSince(known.principal.tokenId, known.mark)) return null
    const ageMs = at.monotonicMs - known.readAtMs
    if (ageMs >= memoryMs) return null
    // If this fails, the next request reports it once the cached token is too old.
    if (ageMs >= refreshMs) reads.read(token, known).catch(() => {})
    return known
  }

  async function readFirst(token: string, request: HttpRequest): Promise<ApiTokenPrincipal> {
    const before = cache.get(token)
    const isFlood = options.isOverLimit(options.clientIp(request))
    const known = await (isFlood ? batchedReads : reads).read(token, before)
    return known === null ? refuseUnknown(options, request) : admit(options, known, request, clock.now())
  }

  return {
    check(sent, request, at) {
      const asSent = recall(sent, at)
      // Almost every client sends it in lower case, as we created it.
      const token = asSent === null ? sent.toLowerCase() : sent
      const known = token === sent ? asSent : recall(token, at)
      if (known !== null) return admit(options, known, request, at.now)
      if (!uuid.test(token)) throw new AuthError('unauthenticated', { explain: 'API token: not a UUID' })
      return readFirst(token, request)
    },
    isOver(principal) {
      const known = principals.get(principal)
      if (known === undefined || isExpired(known, clock.now())) return true
      return changes.isSince(known.principal.tokenId, known.mark)
    },
  }
}

interface Reads {
  /** `before` is the former cache entry. Resolves to null when there is no such token. */
  read(token: string, before: KnownApiToken | null): Promise<KnownApiToken | null>
}

type Find = ApiTokens['findByHash']

function createReads(options: ApiTokenCheckOptions, find: Find, keep: (known: KnownApiToken) => void): Reads {
  const { keyring, cache, changes, clock } = options
  const underWay = new Map<string, { mark: number; reading: Promise<KnownApiToken | null> }>()

  async function readOnce(token: string, before: KnownApiToken | null, mark: number): Promise<KnownApiToken | null> {
    const readAtMs = clock.monotonicMs()
    const record = await find(keyring.digests(apiTokenPurpose, token))
    if (record === null) {
      if (before !== null) before.readAtMs = Number.NEGATIVE_INFINITY
      return null
    }
    const known = { ...understood(record, before), mark, readAtMs, usedAt: before?.usedAt ?? null }
    // The token changed during the read, so the result may be the former state.
    if (changes.isSince(record.id, mark)) return known
    cache.setCopy(token, known)
    keep(known)
    return known
  }

  return {
    read(token, before) {
      const mark = changes.mark()
      const other = underWay.get(token)
      // A read that began before the latest change may return the former state.
      if (other?.mark === mark) return other.reading
      const entry = { mark, reading: readOnce(token, before, mark) }
      underWay.set(token, entry)
      const forget = () => void (underWay.get(token) === entry && underWay.delete(token))
      entry.reading.then(forget, forget)
      return entry.reading
    },
  }
}

/** Reads together what waits, with a pause after each read. */
function createBatches({ apiTokens, pause }: Pick<ApiTokenCheckOptions, 'apiTokens' | 'pause'>): Find {
  let waiting: string[] = []
  let next: Promise<Map<string, ApiTokenRecord>> | null = null
  let paused: Promise<void> = Promise.resolve()

  async function readWaiting(): Promise<Map<string, ApiTokenRecord>> {
    await paused
    const hashes = waiting
    waiting = []
    next = null
    const reading = apiTokens.findAllByHash(hashes)
    paused = reading.then(pause, pause)
    return new Map((await reading).map((token) => [token.tokenHash, token]))
  }

  return async (hashes) => {
    waiting.push(...hashes)
    next ??= readWaiting()
    const found = await next
    return hashes.flatMap((hash) => found.get(hash) ?? [])[0] ?? null
  }
}

/** An unchanged token keeps its principal object. */
function understood(
  { id: tokenId, name, access, cidrs, expiresAt }: ApiTokenRecord,
  before: KnownApiToken | null,
): Pick<KnownApiToken, 'principal' | 'expiresAt' | 'mayComeFrom'> {
  const former = before?.principal
  const isSame = former?.tokenId === tokenId && former.name === name && former.access === access
  const principal = isSame ? former : Object.freeze<ApiTokenPrincipal>({ kind: 'apiToken', tokenId, name, access })
  return { principal, expiresAt, mayComeFrom: cidrs.length === 0 ? null : createNetworks(cidrs) }
}

/** Remembers results by address: programs call from few addresses, and the list costs as much as the rest of the check. */
function createNetworks(cidrs: readonly string[]): (ip: string | null) => boolean {
  const contain = remember(createIpSet(cidrs), 16)
  return (ip) => ip !== null && contain(ip)
}

/** @throws {AuthError} `ip_not_allowed`, `insufficient_access` */
function admit(
  options: ApiTokenCheckOptions,
  known: KnownApiToken,
  request: HttpRequest,
  now: number,
): ApiTokenPrincipal | Promise<never> {
  const { principal, mayComeFrom } = known
  if (isExpired(known, now)) return refuseUnknown(options, request)
  if (mayComeFrom !== null && !(options.knowsClients && mayComeFrom(options.clientIp(request)))) {
    const explain = options.knowsClients ? 'not for this network' : 'for networks, which a count of proxies cannot tell'
    throw new AuthError('ip_not_allowed', { explain: `API token: ${explain}` })
  }
  if (principal.access === 'READ' && !isRead(request))
    throw new AuthError('insufficient_access', { explain: 'API token: it may only read' })
  if (known.usedAt !== now) {
    known.usedAt = now
    options.lastUses.note(principal.tokenId, now)
  }
  return principal
}

/** Limits guesses per client address. A valid token is never limited by other clients behind the same address. */
async function refuseUnknown({ limits, clientIp }: ApiTokenCheckOptions, request: HttpRequest): Promise<never> {
  const { fault } = await limits('apiToken', clientIp(request))
  throw fault ?? new AuthError('unauthenticated', { explain: 'API token: unknown, expired or removed' })
}

function isExpired({ expiresAt }: KnownApiToken, now: number): boolean {
  return expiresAt !== null && expiresAt <= now
}

/** An upgraded connection can carry anything. `h2c` is an offer that common clients send and servers ignore. */
function isRead({ method, headers }: HttpRequest): boolean {
  const { upgrade } = headers
  return isSafeMethod(method) && (upgrade === undefined || String(upgrade).toLowerCase() === 'h2c')
}
