import type { SpaceLimits } from '../messages.js'
import type { OpenedData } from '../opened-space.js'
import { createDocuments } from './documents.js'
import { createIndexes } from './indexes.js'
import { createKeyValues, putPairs } from './key-values.js'
import type { Pools } from './pool.js'
import { createSnapshots } from './snapshots.js'
import { openSpaceSchema } from './space-schema.js'
import { tidy } from './tidy.js'

/**
 * Opens the data of one generation of a space in its schema, which is made or migrated first.
 *
 * @throws {StoreError} `store_unavailable` for a schema of a newer version; any other error of the driver
 */
export async function openSchema(pools: Pools, name: string, limits: SpaceLimits): Promise<OpenedData> {
  const space = await openSpaceSchema(pools.calls, name, limits.quotaBytes)
  const snapshots = createSnapshots(pools.snapshots, space.schema)
  return {
    documents: createDocuments(space),
    indexes: createIndexes(space, limits.indexes),
    keyValues: createKeyValues(space),
    snapshots,
    versions: space.raiseVersions,
    putPairs: (pairs) => putPairs(space, pairs),
    usedBytes: space.usedBytes,
    tidy: () => tidy(space),
    close: snapshots.close,
  }
}
