import type { SpaceRecord } from '../../store/spaces.js'
import type { SpacePorts } from './ports.js'

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
