import type { Spaces } from '../../store/spaces.js'
import type { SpaceNames } from './ports.js'

/** The names of spaces, read from the store. */
export function namesOver(spaces: Pick<Spaces, 'find' | 'findByName'>): SpaceNames {
  const pairs = async (found: Promise<{ id: string; name: string } | null>[]) =>
    (await Promise.all(found)).filter((space) => space !== null)
  return {
    idsOf: async (names) =>
      new Map((await pairs(names.map((name) => spaces.findByName(name)))).map(({ id, name }) => [name, id])),
    namesOf: async (ids) => new Map((await pairs(ids.map((id) => spaces.find(id)))).map(({ id, name }) => [id, name])),
  }
}
