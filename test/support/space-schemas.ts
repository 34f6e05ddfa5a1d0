import { remoteDocuments, remoteIndexes, remoteKeyValues } from '../../src/host/documents/remote-ports.js'
import type { WirePort } from '../../src/host/documents/wire.js'
import type { OpenedData } from '../../src/host/storage/calls.js'
import { runCall } from '../../src/host/storage/calls.js'
import { openSchema } from '../../src/host/storage/postgres/open-schema.js'
import { schemaName } from '../../src/host/storage/postgres/schema.js'
import { defaultLimits } from '../../src/host/storage/threads.js'
import { randomId } from './databases.js'
import { startPostgres } from './pglite.js'
import { standingClock } from './postgres-clock.js'

export interface SpaceSchemas {
  /** A schema of its own, with the checks of a thread before it. */
  open(quotaBytes?: number): Promise<OpenedData & { schema: string }>
  query(sql: string): Promise<unknown>
  advance(milliseconds: number): Promise<void>
  close(): Promise<void>
}

/** Schemas of spaces on one PostgreSQL in this process, by a standing clock. */
export async function startSpaceSchemas(): Promise<SpaceSchemas> {
  const postgres = await startPostgres()
  await postgres.query(standingClock.make)
  await postgres.query(`set search_path = ${standingClock.searchPath}`)
  const pools = { calls: postgres.pool(), snapshots: postgres.pool() }
  return {
    async open(quotaBytes = 1024 ** 3) {
      const schema = schemaName(randomId(), 1)
      const data = await openSchema(pools, schema, { ...defaultLimits, quotaBytes })
      const call = (port: WirePort, verb: string, ...input: readonly unknown[]) =>
        runCall(data, { port, verb }, input, defaultLimits)
      const ports = {
        documents: remoteDocuments(call),
        indexes: remoteIndexes(call),
        keyValues: remoteKeyValues(call),
      }
      return { ...data, ...ports, schema }
    },
    query: postgres.query,
    async advance(milliseconds) {
      await postgres.query(standingClock.move(milliseconds))
    },
    close: postgres.close,
  }
}
