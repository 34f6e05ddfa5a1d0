import type { Visitor } from '../../../model/visitor.js'
import { isHidden } from '../../documents/names.js'
import type { CollectionSize, IndexState } from '../../ports.js'
import { findJudged } from '../spaces/find-space.js'
import { withFaults } from '../spaces/store-faults.js'
import { openSpace } from './find-collection.js'
import type { CollectionPorts } from './ports.js'

/** A collection as administrators see it. */
export interface CollectionEntry extends CollectionSize {
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
