import { AuthError, invalidField } from '../../../errors.js'
import type { Visitor } from '../../../model/visitor.js'
import type { Claim, SpaceRecord } from '../../store/spaces.js'
import type { SpacePorts } from './ports.js'

/** @throws {AuthError} `space_not_found` */
export async function findSpace({ spaces }: Pick<SpacePorts, 'spaces'>, name: string): Promise<SpaceRecord> {
  const space = await spaces.findByName(name)
  if (space === null) throw new AuthError('space_not_found', { detail: 'There is no such space.' })
  return space
}

/**
 * The space that the caller was judged for. Another one may have got the name since then.
 *
 * @throws {AuthError} `space_not_found`
 */
export async function findJudged(
  ports: Pick<SpacePorts, 'spaces'>,
  name: string,
  { space }: Visitor,
): Promise<SpaceRecord> {
  const found = await findSpace(ports, name)
  if (space && space.id !== found.id) throw new AuthError('space_not_found')
  return found
}

/**
 * The space of a claim. What it says cannot change while the claim is held.
 *
 * @throws {AuthError} `not_current`
 */
export async function readClaimed({ spaces }: Pick<SpacePorts, 'spaces'>, { spaceId }: Claim): Promise<SpaceRecord> {
  const space = await spaces.find(spaceId)
  if (space === null) throw new AuthError('not_current')
  return space
}

/** The visitor, whose audit events name the space. */
export function visitorIn({ id, name }: SpaceRecord, visitor: Visitor): Visitor {
  return { ...visitor, space: { id, name } }
}

/** @throws {AuthError} `invalid_request` unless `confirm` repeats the name of the space */
export function requireConfirmed({ name }: SpaceRecord, confirm: string | undefined): void {
  if (confirm === name) return
  throw invalidField('confirm', 'must repeat the name of the space')
}

const pageSize = 200

/** Fills the directory from the store, for the start of the host. Returns all spaces. */
export async function fillDirectory(ports: Pick<SpacePorts, 'spaces' | 'directory'>): Promise<SpaceRecord[]> {
  const all = await readSpaces(ports)
  for (const space of all) ports.directory.put(space)
  return all
}

/** All spaces, by name. */
export async function readSpaces({ spaces }: Pick<SpacePorts, 'spaces'>): Promise<SpaceRecord[]> {
  const all: SpaceRecord[] = []
  for (;;) {
    const page = await spaces.list({ after: all.at(-1)?.name ?? null, limit: pageSize })
    all.push(...page)
    if (page.length < pageSize) return all
  }
}
