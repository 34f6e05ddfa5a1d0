import type { Visitor } from '../../../model/visitor.js'
import type { CollectionSize } from '../../ports.js'
import { findJudged } from '../spaces/find-space.js'
import { asFault } from './faults.js'
import { isHidden, openSpace } from './find-collection.js'
import type { CollectionPorts } from './ports.js'

/** By name, without hidden ones. @throws {AuthError} `space_not_found`, `store_unavailable` */
export async function listCollections(
  ports: CollectionPorts,
  { space: name, visitor }: { space: string; visitor: Visitor },
): Promise<CollectionSize[]> {
  const space = await findJudged(ports, name, visitor)
  const { documents } = await openSpace(ports, space)
  const all = await asFault(() => documents.list())
  return all.filter((each) => !isHidden(each.name))
}
