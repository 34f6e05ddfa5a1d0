import { AuthError } from '../../../errors.js'
import type { Visitor } from '../../../model/visitor.js'
import { isHidden, requireCollection } from '../../documents/names.js'
import type { CollectionSize, IndexState } from '../../ports.js'
import type { SpaceData } from '../../storage/space.js'
import type { SpaceRecord } from '../../store/spaces.js'
import { findJudged } from '../spaces/find-space.js'
import { withFaults } from '../spaces/store-faults.js'
import type { CollectionPorts } from './ports.js'

/** A collection as the caller names it. */
export interface NamedCollection {
  /** The name of the space. */
  space: string
  collection: string
  visitor: Visitor
}

/** A space and its documents. */
export interface OpenedSpace {
  space: SpaceRecord
  data: SpaceData
}

/** @throws {AuthError} `space_not_found`; `not_found` for a hidden collection; `query_invalid` for a name that none can have */
export async function findCollection(ports: CollectionPorts, named: NamedCollection): Promise<OpenedSpace> {
  const { collection } = named
  const space = await findJudged(ports, named.space, named.visitor)
  if (isHidden(collection)) throw new AuthError('not_found', { detail: 'There is no such collection.' })
  return withFaults(async () => {
    requireCollection(collection)
    return { space, data: await openSpace(ports, space) }
  })
}

/** @throws {AuthError} `space_not_found` when the space was removed meanwhile */
async function openSpace(ports: CollectionPorts, space: SpaceRecord): Promise<SpaceData> {
  const data = await withFaults(() => ports.open(space))
  if ((await ports.spaces.find(space.id)) === null) throw new AuthError('space_not_found')
  return data
}

/** A collection as administrators see it. */
interface CollectionEntry extends CollectionSize {
  /** By field. */
  indexes: readonly Pick<IndexState, 'field' | 'isUnique' | 'state'>[]
}

/** By name, without hidden ones. @throws {AuthError} `space_not_found`, `store_unavailable` */
export async function listCollections(
  ports: CollectionPorts,
  { space: name, visitor }: { space: string; visitor: Visitor },
): Promise<CollectionEntry[]> {
  const space = await findJudged(ports, name, visitor)
  const { documents, indexes } = await openSpace(ports, space)
  return withFaults(async () => {
    const shown = (await documents.list()).filter((each) => !isHidden(each.name))
    const entries: CollectionEntry[] = []
    for (const each of shown) {
      const known = await indexes.list(each.name)
      entries.push({ ...each, indexes: known.map(({ field, isUnique, state }) => ({ field, isUnique, state })) })
    }
    return entries
  })
}
