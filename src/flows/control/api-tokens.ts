import type { ApiTokenEntry, CreatedApiToken } from '../../contract/api-tokens.js'
import { AuthError } from '../../errors.js'
import type { Page } from '../../model/account.js'
import {
  type ApiTokenFilter,
  type ApiTokenRecord,
  type ApiTokenRotation,
  type NewApiToken,
  toApiTokenEntry,
} from '../../model/api-token.js'
import type { AuditEventName } from '../../model/audit-event.js'
import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import { type AuditFacts, auditEvent } from '../steps/audit.js'
import { cursorOf, readCursor, requireLimit } from '../steps/paging.js'
import { requireKnown } from '../steps/require-account-fields.js'
import {
  requireAccess,
  requireCidrs,
  requireEnd,
  requireOverlap,
  requireTokenName,
} from './require-api-token-fields.js'

export type ApiTokensPorts = Pick<Ports, 'apiTokens' | 'keyring' | 'clock' | 'random' | 'policy'>

/** The purpose that digests of API tokens are bound to. */
export const apiTokenPurpose = 'api-token'

/** How long a process may use its cached copy of a token before it reads again. */
export const apiTokenMemorySeconds = 60

/** The largest expected difference between the clocks of two processes. */
const clockMarginSeconds = 120

/**
 * Creates a token. Only this result holds its text.
 *
 * @throws {AuthError} `invalid_request` with the path of the fault, also for an unknown field, and for networks while a count
 *   of proxies is trusted, because a client that connects directly can then forge its address
 */
export async function createApiToken(
  ports: ApiTokensPorts,
  { token: input, visitor }: { token: NewApiToken; visitor: Visitor },
): Promise<CreatedApiToken> {
  requireKnown(input, ['name', 'access', 'expiresAt', 'cidrs'])
  const { token, tokenHash } = newToken(ports)
  const record: ApiTokenRecord = {
    id: ports.random.id(),
    tokenHash,
    name: requireTokenName(input.name),
    access: input.access === undefined ? 'READWRITE' : requireAccess(input.access),
    cidrs: input.cidrs === undefined ? [] : requireCidrs(input.cidrs, ports.policy.access.knowsClients),
    createdAt: ports.clock.now(),
    expiresAt: requireEnd(input.expiresAt ?? null, ports.clock.now()),
    lastUsedAt: null,
    replacedBy: null,
  }
  const { id, name, access } = record
  const detail = { tokenId: id, name, access }
  await ports.apiTokens.create(record, auditEvent(ports, 'api_token_created', visitor, { detail }))
  return { ...toApiTokenEntry(record), token }
}

/**
 * One page of the tokens, newest first and without their text.
 *
 * @throws {AuthError} `invalid_request` for an invalid limit or cursor
 */
export async function listApiTokens(
  ports: Pick<Ports, 'apiTokens'>,
  filter: ApiTokenFilter,
): Promise<Page<ApiTokenEntry>> {
  const limit = requireLimit(filter.limit)
  const after = filter.cursor === undefined ? null : readCursor(filter.cursor)

  // One more than asked for shows whether there is another page.
  const found = await ports.apiTokens.list({ after, limit: limit + 1 })
  const page = found.slice(0, limit)
  const last = page.at(-1)
  return { items: page.map(toApiTokenEntry), nextCursor: last && found.length > limit ? cursorOf(last) : null }
}

/**
 * Ends a token for good.
 *
 * @throws {AuthError} `not_found`
 */
export async function removeApiToken(
  ports: ApiTokensPorts,
  { id, visitor }: { id: string; visitor: Visitor },
): Promise<void> {
  const removed = await ports.apiTokens.remove(id, step(ports, 'api_token_removed', visitor, { tokenId: id }))
  if (!removed) throw new AuthError('not_found')
}

/**
 * Creates a successor with the same name, access and networks. The former token ends with the overlap.
 *
 * @throws {AuthError} `not_found` unless the token is valid and has no successor yet, `invalid_request`
 */
export async function rotateApiToken(
  ports: ApiTokensPorts,
  { id, options, visitor }: { id: string; options: ApiTokenRotation; visitor: Visitor },
): Promise<CreatedApiToken> {
  requireKnown(options, ['overlap', 'expiresAt'])
  const now = ports.clock.now()
  const endsAt = now + requireOverlap(options.overlap ?? '0s')
  const end = options.expiresAt === undefined ? {} : { expiresAt: requireEnd(options.expiresAt, now) }
  const { token, tokenHash } = newToken(ports)
  const successor = { id: ports.random.id(), tokenHash, createdAt: now }

  const replacement = { id, successor, ...end, endsAt, now }
  const records = step(ports, 'api_token_rotated', visitor, { tokenId: id, replacedBy: successor.id })
  const record = await ports.apiTokens.rotate(replacement, records)
  if (!record) throw new AuthError('not_found')
  return { ...toApiTokenEntry(record), token }
}

function newToken({ random, keyring }: ApiTokensPorts): { token: string; tokenHash: string } {
  const token = random.uuid()
  return { token, tokenHash: keyring.digest(apiTokenPurpose, token) }
}

function step(
  ports: ApiTokensPorts,
  event: AuditEventName,
  visitor: Visitor,
  detail: NonNullable<AuditFacts['detail']>,
) {
  const until = ports.clock.now() + apiTokenMemorySeconds + clockMarginSeconds
  return { until, audit: auditEvent(ports, event, visitor, { detail }) }
}
