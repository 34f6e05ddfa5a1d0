import { AuthError } from '../errors.js'
import { apiTokenMemorySeconds, apiTokenPurpose } from '../flows/control/api-tokens.js'
import type { HttpRequest } from '../http/message.js'
import type { RequestLimits } from '../http/request-limits.js'
import { isSafeMethod } from '../http/safe-method.js'
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

/** What the store said of a token, kept so that the next request with it costs a look-up. */
export interface KnownApiToken {
  principal: ApiTokenPrincipal
  /** Unix seconds; null: never. */
  expiresAt: number | null
  /** Whether it may come from there; null: from everywhere. */
  mayComeFrom: ((ip: string | null) => boolean) | null
  /** What this process had heard when the read began. */
  mark: number
  /** When the read began, milliseconds of the monotonic clock. */
  readAtMs: number
  /** The latest use that was noted, Unix seconds; null: none yet. */
  usedAt: number | null
}

export interface ApiTokenCheckOptions {
  apiTokens: Pick<ApiTokens, 'findByHash'>
  keyring: Pick<Keyring, 'digests'>
  /** Bounded; holds no failures. */
  cache: VerifiedCache<KnownApiToken>
  changes: TokenChanges
  limits: RequestLimits
  /** `at`: Unix seconds. */
  lastUses: { note(tokenId: string, at: number): void }
  clock: Pick<SharedClock, 'now' | 'monotonicMs'>
  clientIp(request: HttpRequest): string | null
  /** False where a count of proxies is trusted, behind which anybody writes an address of their own. */
  knowsClients: boolean
}

export interface ApiTokenGuard extends ApiTokenCheck {
  /** Whether whoever came in by that token may be here no more, as far as this process knows. */
  isOver(principal: Principal): boolean
}

/** From then on nothing is decided by what was read, milliseconds. */
const memoryMs = apiTokenMemorySeconds * 1000
/** From then on a token in use is read again beside the requests, so that none of them waits. */
const refreshMs = memoryMs * 0.75

/** As we make them (RFC 9562 §5.4), in lower or upper case (§4); nothing else is looked up. */
const uuid = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/

/**
 * Turns an API token into its principal: one frozen object for each token that is remembered. Expiry, networks, access
 * and the news of changes are asked every time. Synchronous for a token seen within the last minute; else one read, which
 * many requests at once share. Unknown and expired tokens are counted by client address and look alike.
 */
export function createApiTokenCheck(options: ApiTokenCheckOptions): ApiTokenGuard {
  const { cache, changes, clock } = options
  const principals = new WeakMap<Principal, KnownApiToken>()
  const reads = createReads(options, (known) => principals.set(known.principal, known))

  function recall(token: string, at: Moment): KnownApiToken | null {
    const known = cache.get(token)
    if (known === null || changes.isSince(known.principal.tokenId, known.mark)) return null
    const ageMs = at.monotonicMs - known.readAtMs
    if (ageMs >= memoryMs) return null
    // When this fails, a request will say so once the memory is too old.
    if (ageMs >= refreshMs) reads.read(token, known).catch(() => {})
    return known
  }

  async function readFirst(token: string, request: HttpRequest): Promise<ApiTokenPrincipal> {
    const known = await reads.read(token, cache.get(token))
    return known === null ? refuseUnknown(options, request) : admit(options, known, request, clock.now())
  }

  return {
    check(sent, request, at) {
      const asSent = recall(sent, at)
      // Nearly all send it as we made it, in lower case.
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
  /** `before` is what was known of it. null: there is no such token. */
  read(token: string, before: KnownApiToken | null): Promise<KnownApiToken | null>
}

function createReads(options: ApiTokenCheckOptions, keep: (known: KnownApiToken) => void): Reads {
  const { apiTokens, keyring, cache, changes, clock } = options
  const underWay = new Map<string, { mark: number; reading: Promise<KnownApiToken | null> }>()

  async function readOnce(token: string, before: KnownApiToken | null, mark: number): Promise<KnownApiToken | null> {
    const readAtMs = clock.monotonicMs()
    const record = await apiTokens.findByHash(keyring.digests(apiTokenPurpose, token))
    if (record === null) {
      if (before !== null) before.readAtMs = Number.NEGATIVE_INFINITY
      return null
    }
    const known = { ...understood(record, before), mark, readAtMs, usedAt: before?.usedAt ?? null }
    // What was changed while it was read may be what it was before.
    if (changes.isSince(record.id, mark)) return known
    cache.setCopy(token, known)
    keep(known)
    return known
  }

  return {
    read(token, before) {
      const mark = changes.mark()
      const other = underWay.get(token)
      // One that began before the latest change may tell what was before it.
      if (other?.mark === mark) return other.reading
      const entry = { mark, reading: readOnce(token, before, mark) }
      underWay.set(token, entry)
      const forget = () => void (underWay.get(token) === entry && underWay.delete(token))
      entry.reading.then(forget, forget)
      return entry.reading
    },
  }
}

/** A token that is what it was keeps its principal. */
function understood(
  { id: tokenId, name, access, cidrs, expiresAt }: ApiTokenRecord,
  before: KnownApiToken | null,
): Pick<KnownApiToken, 'principal' | 'expiresAt' | 'mayComeFrom'> {
  const former = before?.principal
  const isSame = former?.tokenId === tokenId && former.name === name && former.access === access
  const principal = isSame ? former : Object.freeze<ApiTokenPrincipal>({ kind: 'apiToken', tokenId, name, access })
  return { principal, expiresAt, mayComeFrom: cidrs.length === 0 ? null : createNetworks(cidrs) }
}

/** A program calls from a few addresses; asking the list costs as much as all the rest of the check. */
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

/** Guesses have a limit for each client address; whoever has a right token is not held by those of others behind it. */
async function refuseUnknown({ limits, clientIp }: ApiTokenCheckOptions, request: HttpRequest): Promise<never> {
  const { fault } = await limits('apiToken', clientIp(request))
  throw fault ?? new AuthError('unauthenticated', { explain: 'API token: unknown, expired or removed' })
}

function isExpired({ expiresAt }: KnownApiToken, now: number): boolean {
  return expiresAt !== null && expiresAt <= now
}

/** Through an upgraded connection anything can be sent; `h2c` is an offer that common clients make and servers pass over. */
function isRead({ method, headers }: HttpRequest): boolean {
  const { upgrade } = headers
  return isSafeMethod(method) && (upgrade === undefined || String(upgrade).toLowerCase() === 'h2c')
}
