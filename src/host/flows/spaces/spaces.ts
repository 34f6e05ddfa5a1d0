import type { SpaceEntry } from '../../../contract/spaces.js'
import { AuthError, invalidField } from '../../../errors.js'
import { apiTokenMemorySeconds } from '../../../flows/control/api-tokens.js'
import { auditEvent } from '../../../flows/steps/audit.js'
import { requireLimit } from '../../../flows/steps/paging.js'
import { isoTime } from '../../../lib/iso-time.js'
import type { Page } from '../../../model/account.js'
import type { Visitor } from '../../../model/visitor.js'
import type { SpaceRecord } from '../../store/spaces.js'
import { toActorEntry } from './actor-entry.js'
import { requireHeld, underClaim } from './claim.js'
import { findSpace, requireConfirmed, visitorIn } from './find-space.js'
import type { SpacePorts } from './ports.js'
import { settle } from './settle.js'

const namePattern = /^[a-z][a-z0-9-]{0,30}$/
/** `{baseUrl}/health` is the host's, and cookies with the suffix `host` are. */
const reservedNames = ['health', 'host']

/** The largest expected difference between the clocks of two processes. */
const clockMarginSeconds = 120

/** @throws {AuthError} `invalid_request`, `space_exists` */
export async function createSpace(
  ports: SpacePorts,
  { name, visitor }: { name: string; visitor: Visitor },
): Promise<SpaceEntry> {
  requireSpaceName(name)
  const [id, createdAt] = [ports.random.id(), ports.clock.now()]
  const event = auditEvent(ports, 'space_created', { ...visitor, space: { id, name } })
  const space = { id, name, createdAt }
  const dataKey = () => ports.sealer.newKey(id).wrapped
  const isNew = await ports.spaces.create({ ...space, dataKey }, event)
  if (!isNew) throw new AuthError('space_exists')
  const record: SpaceRecord = {
    ...space,
    release: null,
    generation: 1,
    busyWith: null,
    busyBy: null,
    busySinceMs: null,
  }
  ports.directory.put(record)
  return toEntry(ports, record)
}

function requireSpaceName(name: string): void {
  const message = !namePattern.test(name)
    ? 'must be 1 to 31 lower-case letters, digits and hyphens, and begin with a letter'
    : reservedNames.includes(name)
      ? 'is a name of the host'
      : null
  if (message !== null) throw invalidField('name', message)
}

/** @throws {AuthError} `invalid_request` for an invalid limit */
export async function listSpaces(
  ports: SpacePorts,
  { limit: asked, cursor }: { limit?: number; cursor?: string },
): Promise<Page<SpaceEntry>> {
  const limit = requireLimit(asked)
  // One more than asked for shows whether there is another page.
  const found = await ports.spaces.list({ after: cursor ?? null, limit: limit + 1 })
  const page = found.slice(0, limit)
  return {
    items: page.map((space) => toEntry(ports, space)),
    nextCursor: found.length > limit ? (page.at(-1)?.name ?? null) : null,
  }
}

/** Every space, by name. A host has few enough. */
export async function listAllSpaces(ports: SpacePorts): Promise<SpaceEntry[]> {
  const all: SpaceEntry[] = []
  let cursor: string | null = null
  do {
    const page: Page<SpaceEntry> = await listSpaces(ports, { limit: 200, ...(cursor !== null && { cursor }) })
    all.push(...page.items)
    cursor = page.nextCursor
  } while (cursor !== null)
  return all
}

/** @throws {AuthError} `space_not_found` */
export async function readSpace(ports: SpacePorts, name: string): Promise<SpaceEntry> {
  return toEntry(ports, await findSpace(ports, name))
}

/**
 * Removes a space with its code, data, tokens and settings. Requests to it are refused from the moment of the answer on.
 *
 * @throws {AuthError} `space_not_found`, `invalid_request`, `space_busy`, `not_current`
 */
export async function removeSpace(
  ports: SpacePorts,
  { name, confirm, visitor }: { name: string; confirm: string | undefined; visitor: Visitor },
): Promise<void> {
  const space = await findSpace(ports, name)
  requireConfirmed(space, confirm)
  const until = ports.clock.now() + apiTokenMemorySeconds + clockMarginSeconds
  const audit = auditEvent(ports, 'space_removed', visitorIn(space, visitor))
  await underClaim(ports, { spaceId: space.id, kind: 'remove', by: visitor.actor }, async (claim) => {
    try {
      requireHeld(await ports.spaces.remove(claim, { until, audit }))
    } catch (error) {
      await settle(ports, space, error)
      throw error
    }
  })
  ports.directory.remove(space.id)
  try {
    await ports.children.remove(space.id)
    await removeFiles(ports, space.id)
  } catch {
    // Files that are left are removed at the next start of the host.
    await settle(ports, space)
  }
}

/** Removes files that an earlier process could not remove, for the start of the host. Returns the ids of spaces where it fails. */
export async function sweepRemovedSpaces(ports: Pick<SpacePorts, 'spaces' | 'files'>): Promise<string[]> {
  const left: string[] = []
  for (const id of await ports.spaces.removed()) await removeFiles(ports, id).catch(() => left.push(id))
  return left
}

/** A space that was removed during an upload: the upload may have made its folder again. */
export async function tidyGone(ports: Pick<SpacePorts, 'spaces' | 'files'>, id: string): Promise<void> {
  if ((await ports.spaces.find(id)) === null) await ports.files.remove(id)
}

async function removeFiles({ files, spaces }: Pick<SpacePorts, 'spaces' | 'files'>, id: string): Promise<void> {
  await files.remove(id)
  await spaces.forget(id)
}

function toEntry({ children, baseUrl }: SpacePorts, space: SpaceRecord): SpaceEntry {
  const { state, memoryBytes, restarts, requests } = children.status(space.id)
  return {
    id: space.id,
    name: space.name,
    url: `${baseUrl}/${space.name}`,
    createdAt: isoTime(space.createdAt),
    release: space.release,
    state: space.release === null ? 'stopped' : state,
    memoryBytes,
    restarts,
    requests,
    busyWith: space.busyWith,
    busyBy: toActorEntry(space.busyBy),
    busySince: space.busySinceMs === null ? null : isoTime(Math.floor(space.busySinceMs / 1_000)),
  }
}
