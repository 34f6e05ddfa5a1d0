import { timingSafeEqual } from 'node:crypto'
import { AuthError } from '../../errors.js'
import { coarseNetwork } from '../../lib/ip-address.js'
import { createIpSet } from '../../lib/ip-ranges.js'
import type { Keyring } from '../../lib/keyring.js'
import { adminTokenMemorySeconds, adminTokenPurpose, adminTokenText } from '../../model/admin-token.js'
import type { Change } from '../../model/change.js'
import type { AdminTokenCaller, Ports } from '../../ports.js'
import type { AdminTokenRecord, AdminTokens, AdminTokenUse } from '../store/people.js'
import type { RightsMemory } from './rights.js'

interface AdminTokenCheckOptions {
  projectTokens: Pick<AdminTokens, 'find' | 'list'>
  rights: Pick<RightsMemory, 'isAdmin' | 'inForce'>
  keyring: Pick<Keyring, 'digests'>
  limiter: Pick<Ports['limiter'], 'request' | 'refusedRequest'>
  lastUses: Pick<LastUses, 'note'>
  clock: Pick<Ports['clock'], 'now' | 'monotonicMs'>
  subscribe(listener: (change: Change | null) => void): void
  /** Whether a client's address is reliable enough to decide by it. */
  knowsClients: boolean
}

/** A token as this process remembers it. */
interface Known {
  token: AdminTokenRecord
  mayComeFrom: (ip: string) => boolean
  readAtMs: number
}

interface Memory {
  /** Reads a token that is not remembered. */
  find(id: string): Promise<Known | null>
  /** The same without a read for each token: all are read together, at most once a second. */
  findAmongAll(id: string): Promise<Known | null>
}

const allReadMs = 1_000

/**
 * The check of admin tokens. What differs between an unknown id, a wrong secret, an expired token and one whose owner has no
 * right is not shown: the digest is computed first, and the answer is the same.
 */
export function createAdminTokenCheck(options: AdminTokenCheckOptions): NonNullable<Ports['adminTokens']> {
  const { rights, keyring, lastUses, clock, limiter } = options
  const memory = createMemory(options)
  return {
    async identify(text, { ip }) {
      if (!adminTokenText.test(text)) throw unauthenticated()
      const digests = keyring.digests(adminTokenPurpose, text)
      const id = text.slice(0, text.indexOf('-'))
      // A flood of unknown tokens makes no reads of its own, and a valid one of the same address is found all the same.
      const isFlood = ip !== null && limiter.refusedRequest('adminToken', ip) !== null
      const known = await (isFlood ? memory.findAmongAll(id) : memory.find(id))
      // What this process knows of the owner is in force before it decides.
      await rights.inForce()
      const isRight = isOneOf(digests, known?.token.tokenHash ?? null)
      const now = clock.now()
      if (known === null || !isRight || !isUsable(rights, known.token, now)) return refuse(options, ip)
      if (known.token.cidrs.length > 0 && !(options.knowsClients && ip !== null && known.mayComeFrom(ip))) {
        throw new AuthError('ip_not_allowed', { explain: 'admin token: not for this network' })
      }
      lastUses.note(known.token.id, now, ip)
      return callerOf(known.token)
    },
  }
}

/** Compares with every digest in the same time, also where there is none to compare with. */
function isOneOf(digests: readonly string[], stored: string | null): boolean {
  let found = false
  for (const digest of digests) {
    const one = Buffer.from(digest)
    const other = Buffer.from(stored ?? digest)
    const same = one.length === other.length && timingSafeEqual(one, other)
    found = (same && stored !== null) || found
  }
  return found
}

function isUsable(rights: Pick<RightsMemory, 'isAdmin'>, { owner, expiresAt }: AdminTokenRecord, now: number): boolean {
  if (expiresAt !== null && expiresAt <= now) return false
  return rights.isAdmin(owner.kind === 'team' ? { teamId: owner.teamId } : { userId: owner.userId })
}

/** Limits guesses per client address. A valid token is never limited by other clients behind the same address. */
async function refuse({ limiter }: AdminTokenCheckOptions, ip: string | null): Promise<never> {
  const verdict = ip === null ? null : await limiter.request('adminToken', ip)
  if (verdict?.allowed === false) throw new AuthError('rate_limited', { retryAfterSeconds: verdict.resetSeconds })
  throw unauthenticated()
}

function unauthenticated(): AuthError {
  return new AuthError('unauthenticated', {
    explain: 'admin token: unknown, removed, expired, or its owner may not use it',
  })
}

function callerOf({ id, name, spaces, commands }: AdminTokenRecord): AdminTokenCaller {
  return { tokenId: id, name, spaces, commands }
}

/**
 * Remembers found tokens for a minute. A change of the feed drops one at once, a gap drops all. Only a read of all that succeeds
 * keeps the next one off for a second.
 */
function createMemory({ projectTokens, clock, subscribe }: AdminTokenCheckOptions): Memory {
  const memory = new Map<string, Known>()
  let changes = 0

  subscribe((change) => {
    if (change !== null && change.kind !== 'admin_token') return
    changes += 1
    if (change === null) memory.clear()
    else memory.delete(change.subject)
  })

  const isFresh = ({ readAtMs }: Known) => clock.monotonicMs() - readAtMs < adminTokenMemorySeconds * 1_000
  const knownOf = (token: AdminTokenRecord, readAtMs: number) => ({
    token,
    mayComeFrom: createIpSet(token.cidrs),
    readAtMs,
  })

  async function find(id: string): Promise<Known | null> {
    const now = clock.monotonicMs()
    const known = memory.get(id)
    if (known && isFresh(known)) return known
    memory.delete(id)
    const mark = changes
    const token = await projectTokens.find(id)
    if (token === null) return null
    const found = knownOf(token, now)
    // A token that changed during the read is read again next time.
    if (mark === changes) memory.set(id, found)
    return found
  }

  let allReadAtMs = Number.NEGATIVE_INFINITY
  let reading: Promise<void> | null = null

  async function readAll(): Promise<void> {
    const [mark, now] = [changes, clock.monotonicMs()]
    const tokens = await projectTokens.list()
    if (mark !== changes) return
    allReadAtMs = now
    memory.clear()
    for (const token of tokens) memory.set(token.id, knownOf(token, now))
  }

  return {
    find,
    async findAmongAll(id) {
      const known = memory.get(id)
      if (known && isFresh(known)) return known
      if (reading === null && clock.monotonicMs() - allReadAtMs >= allReadMs) {
        reading = readAll().finally(() => {
          reading = null
        })
      }
      await reading
      const found = memory.get(id)
      return found && isFresh(found) ? found : null
    },
  }
}

/** How long uses are collected before a write, and the pause after a failed write. */
const batchMs = 10_000
const daySeconds = 86_400

interface LastUses {
  /** Cheap and synchronous. `at`: Unix seconds; `ip`: null when it is not known. */
  note(tokenId: string, at: number, ip: string | null): void
  /** Writes the rest, unless the store fails. */
  close(): Promise<void>
}

/**
 * Collects on which day and from which network each admin token was last used, and writes it in batches. A crash loses at
 * most one batch; no decision depends on it.
 */
export function createLastUses(
  tokens: Pick<AdminTokens, 'touch'>,
  timer: (milliseconds: number, callback: () => void) => () => void,
): LastUses {
  /** What was noted last, so that a day of use from one network is one write. */
  const noted = new Map<string, AdminTokenUse>()
  const pending = new Map<string, AdminTokenUse>()
  let stopTimer: (() => void) | null = null
  let underWay: Promise<void> = Promise.resolve()
  let closed = false

  async function write(): Promise<void> {
    const batch = [...pending]
    await tokens.touch(batch.map(([id, use]) => ({ id, ...use })))
    // A later use, noted during the write, stays pending.
    for (const [id, use] of batch) if (pending.get(id) === use) pending.delete(id)
  }

  async function tick(): Promise<void> {
    // A failed batch stays pending and is written with the next one.
    await write().catch(() => {})
    stopTimer = null
    if (pending.size > 0) arm()
  }

  function arm(): void {
    if (stopTimer !== null || closed) return
    stopTimer = timer(batchMs, () => {
      underWay = tick()
    })
  }

  return {
    note(tokenId, at, ip) {
      const use: AdminTokenUse = { day: at - (at % daySeconds), network: coarseNetwork(ip) }
      const former = noted.get(tokenId)
      if (former?.day === use.day && former.network === use.network) return
      noted.set(tokenId, use)
      pending.set(tokenId, use)
      arm()
    },
    async close() {
      closed = true
      stopTimer?.()
      await underWay
      await write().catch(() => {})
    },
  }
}
