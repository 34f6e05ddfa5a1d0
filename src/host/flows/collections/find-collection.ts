import { AuthError } from '../../../errors.js'
import type { Visitor } from '../../../model/visitor.js'
import { isHidden, requireCollection } from '../../documents/names.js'
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
export async function openSpace(ports: CollectionPorts, space: SpaceRecord): Promise<SpaceData> {
  const data = await withFaults(() => ports.open(space))
  if ((await ports.spaces.find(space.id)) === null) throw new AuthError('space_not_found')
  return data
}
