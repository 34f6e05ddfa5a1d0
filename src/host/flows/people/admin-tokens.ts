import type { AdminCommand } from '../../../contract/admin-command.js'
import type { AdminTokenEntry } from '../../../contract/admin-tokens.js'
import { AuthError, invalidField } from '../../../errors.js'
import { requireCidrs, requireEnd, requireTokenName } from '../../../flows/control/require-api-token-fields.js'
import { auditEvent } from '../../../flows/steps/audit.js'
import { isoTime } from '../../../lib/iso-time.js'
import { oneLine } from '../../../lib/one-line.js'
import { adminTokenPurpose } from '../../../model/admin-token.js'
import type { Visitor } from '../../../model/visitor.js'
import type { Ports } from '../../../ports.js'
import type { AdminTokenOwner, AdminTokenRecord, ListedAdminToken } from '../../store/people.js'
import type { PeoplePorts, SpaceNames } from './ports.js'
import { peopleStep } from './step.js'

const defaultLifetimeSeconds = 365 * 86_400

interface NewAdminToken {
  /** `personal`, or the id of a team that the maker is a member of. */
  owner: string
  /** One line of at most 100 characters. Default: `admin token`. */
  name?: string | undefined
  /** ISO 8601; null: never. Default: in 365 days. */
  expiresAt?: string | null | undefined
  /** Default: from everywhere. */
  cidrs?: readonly string[] | undefined
  /** Names. Default: all spaces. */
  spaces?: readonly string[] | undefined
  /** Default: all that admin tokens may be used for. */
  commands?: readonly AdminCommand[] | undefined
}

/** A new admin token. This is the only time that the token itself is shown. */
export interface CreatedAdminToken extends AdminTokenEntry {
  token: string
}

type CreatePorts = Pick<Ports, 'keyring' | 'random' | 'clock' | 'policy'> &
  Pick<PeoplePorts, 'projectTokens' | 'spaces'>

/** All admin tokens of the project, newest first and without their text. */
export async function listAdminTokens(
  ports: Pick<PeoplePorts, 'projectTokens' | 'spaces'>,
): Promise<AdminTokenEntry[]> {
  return toEntries(ports, await ports.projectTokens.list())
}

/**
 * Makes an admin token for the administrator or for a team of theirs.
 *
 * @throws {AuthError} `invalid_request`; `not_found` for a team that they are no member of; `space_not_found`
 */
export async function createAdminToken(
  ports: CreatePorts,
  { input, userId, visitor }: { input: NewAdminToken; userId: string; visitor: Visitor },
): Promise<CreatedAdminToken> {
  const { token, tokenHash, id } = newToken(ports)
  const now = ports.clock.now()
  const record: AdminTokenRecord = {
    id,
    tokenHash,
    name: requireTokenName(input.name ?? 'admin token'),
    owner: ownerOf(input.owner, userId),
    madeBy: userId,
    spaces: input.spaces === undefined ? null : await requireSpaces(ports, input.spaces),
    commands: input.commands === undefined ? null : requireSome(input.commands, 'commands'),
    cidrs: input.cidrs === undefined ? [] : requireCidrs(input.cidrs, ports.policy.access.knowsClients),
    createdAt: now,
    expiresAt: input.expiresAt === undefined ? now + defaultLifetimeSeconds : requireEnd(input.expiresAt, now),
    lastUse: null,
  }
  const { owner, name } = record
  const team = owner.kind === 'team' ? { teamId: owner.teamId } : {}
  const detail = { tokenId: id, name, owner: owner.kind, ...team }
  const audit = auditEvent(ports, 'admin_token_created', visitor, { userId, detail })
  if (!(await ports.projectTokens.create(record, audit))) throw new AuthError('not_found')
  const [entry] = (await listAdminTokens(ports)).filter((each) => each.id === id)
  // Removed by another administrator since.
  if (!entry) throw new AuthError('not_found')
  return { ...entry, token }
}

/**
 * Ends an admin token for good. Every administrator may end every token.
 *
 * @throws {AuthError} `not_found`
 */
export async function removeAdminToken(
  ports: Pick<Ports, 'random' | 'clock'> & Pick<PeoplePorts, 'projectTokens'>,
  { id, visitor }: { id: string; visitor: Visitor },
): Promise<void> {
  const step = peopleStep(ports, 'admin_token_removed', visitor, { detail: { tokenId: id } })
  if (!(await ports.projectTokens.remove(id, step))) throw new AuthError('not_found')
}

/**
 * Ends every admin token of the project in one step, as after a start with an older database. Returns how many there were.
 *
 * @param input.confirm `all`
 * @throws {AuthError} `invalid_request` for another confirmation
 */
export async function removeAllAdminTokens(
  ports: Pick<Ports, 'random' | 'clock'> & Pick<PeoplePorts, 'projectTokens'>,
  { confirm, visitor }: { confirm: string; visitor: Visitor },
): Promise<number> {
  if (confirm !== 'all') {
    throw invalidField('confirm', 'must be "all"')
  }
  return ports.projectTokens.removeAll(peopleStep(ports, 'admin_token_removed', visitor, { detail: { all: true } }))
}

/** 64 bits of a public id, then 128 random bits. */
function newToken({ random, keyring }: CreatePorts): { id: string; token: string; tokenHash: string } {
  const id = hex(random.id()).slice(0, 16)
  const token = `${id}-${hex(random.id())}`
  return { id, token, tokenHash: keyring.digest(adminTokenPurpose, token) }
}

function hex(id: string): string {
  return Buffer.from(id, 'base64url').toString('hex')
}

function ownerOf(owner: string, userId: string): AdminTokenOwner {
  return owner === 'personal' ? { kind: 'personal', userId } : { kind: 'team', teamId: owner }
}

async function requireSpaces(
  { spaces }: Pick<PeoplePorts, 'spaces'>,
  names: readonly string[],
): Promise<readonly string[]> {
  const ids = await spaces.idsOf(requireSome(names, 'spaces'))
  const missing = names.filter((name) => !ids.has(name))
  if (missing.length > 0) {
    const detail = `There is no such space: ${oneLine([...new Set(missing)].join(', ')).slice(0, 200)}`
    throw new AuthError('space_not_found', { detail })
  }
  return [...new Set(names)].flatMap((name) => ids.get(name) ?? [])
}

/** An empty list is refused, because the caller may have computed it and meant none. */
function requireSome<Item>(items: readonly Item[], path: string): readonly Item[] {
  if (items.length > 0) return [...new Set(items)]
  throw invalidField(path, 'must name at least one')
}

export async function toEntries(
  { spaces }: { spaces: Pick<SpaceNames, 'namesOf'> },
  tokens: readonly ListedAdminToken[],
): Promise<AdminTokenEntry[]> {
  const ids = new Set(tokens.flatMap((token) => token.spaces ?? []))
  const names = ids.size === 0 ? new Map<string, string>() : await spaces.namesOf([...ids])
  return tokens.map((token) => toEntry(token, names))
}

function toEntry(token: ListedAdminToken, names: ReadonlyMap<string, string>): AdminTokenEntry {
  const { id, name, owner, lastUse, expiresAt } = token
  return {
    id,
    start: id.slice(0, 5),
    name,
    owner: {
      kind: owner.kind,
      id: owner.kind === 'team' ? owner.teamId : owner.userId,
      name: token.ownerName,
    },
    madeBy: { id: token.madeBy, email: token.makerEmail },
    spaces: token.spaces?.map((space) => names.get(space) ?? space) ?? null,
    commands: token.commands,
    cidrs: token.cidrs,
    createdAt: isoTime(token.createdAt),
    expiresAt: expiresAt === null ? null : isoTime(expiresAt),
    lastUse: lastUse && { day: isoTime(lastUse.day).slice(0, 10), network: lastUse.network },
  }
}
