import type { CollectionSize, IndexState, Snapshot } from '../../ports.js'
import type { OpenedData, OpenSnapshots } from '../calls.js'
import type { SpaceLimits } from '../messages.js'
import { unavailable } from '../messages.js'
import { createDocuments, readDocuments } from './documents.js'
import { createIndexes, readIndexes } from './indexes.js'
import { clockMs, createKeyValues, pairs, putPairs, removePairs } from './key-values.js'
import { booleanAt, type Connection, numberAt, type Pool, type Pools, repeatable, runOn, textAt } from './pool.js'
import { openSpaceSchema, type SchemaReader, type SpaceSchema } from './space-schema.js'

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

/** A reader that the front has lost sight of ends by itself. The front cuts slow ones off sooner. */
const idleMs = 5 * 60 * 1000

type Reader = Omit<Snapshot, 'close'>

interface Open {
  reader: Reader
  close(): Promise<void>
}

/** The snapshots of one space's schema, each a transaction on a connection of its own. The front counts them and ends them. */
function createSnapshots(pool: Pool, schema: string): OpenSnapshots {
  const opened = new Map<number, Open>()

  async function end(snapshot: number): Promise<void> {
    const open = opened.get(snapshot)
    opened.delete(snapshot)
    await open?.close()
  }

  return {
    async begin(snapshot) {
      opened.set(snapshot, await repeatable(() => begin(pool, schema)))
    },
    async read(snapshot, asked) {
      const reader = opened.get(snapshot)?.reader
      if (!reader) throw unavailable()
      if (asked.verb === 'list') return reader.list()
      if (asked.verb === 'scan') return reader.scan(asked.collection, asked.options)
      return reader.pairs(asked.after)
    },
    end,
    async close() {
      await Promise.all([...opened.keys()].map(end))
    },
  }
}

async function begin(pool: Pool, schema: string): Promise<Open> {
  const client = await pool.connect()
  const run = runOn(client)
  try {
    await run('begin isolation level repeatable read read only')
    await run(`set local idle_in_transaction_session_timeout = ${idleMs}`)
    // Tables that are dropped meanwhile stay until this transaction ends.
    const sql = `select pg_advisory_xact_lock_shared(hashtextextended($1, 0)), ${clockMs} as now_ms`
    const nowMs = numberAt((await run(sql, schema))[0], 'now_ms')
    return { reader: createReader({ schema, read: (work) => work(run) }, nowMs), close: () => finish(client) }
  } catch (error) {
    await finish(client)
    throw error
  }
}

/** Whatever happened to the connection: when it broke, the server has ended the transaction itself. */
async function finish(client: Connection): Promise<void> {
  await client.query('rollback', []).catch(() => {})
  client.release()
}

function createReader(space: SchemaReader, nowMs: number): Reader {
  const documents = readDocuments(space)
  const indexes = readIndexes(space)
  return {
    scan: documents.scan,
    async list() {
      const listed: (CollectionSize & { indexes: readonly IndexState[] })[] = []
      for (const collection of await documents.list())
        listed.push({ ...collection, indexes: await indexes.list(collection.name) })
      return listed
    },
    pairs: (after) =>
      space.read(async (run) => {
        const page = await pairs(run, `${space.schema}.kv`, {
          where: after === null ? 'true' : '(keyspace, key) > ($1, $2)',
          order: 'keyspace, key',
          values: after === null ? [] : [Buffer.from(after.keyspace), Buffer.from(after.key)],
        })
        const live = page.rows.filter(({ endsAt }) => endsAt === null || endsAt > nowMs)
        return { rows: live.map(({ isLive: _, ...pair }) => pair), next: page.next }
      }),
  }
}

/**
 * Deletes a page of expired key-value pairs and the table of a dropped collection or index. Returns whether there is more. A crash
 * between two of them loses nothing: what is dropped stands in a table.
 */
async function tidy(space: SpaceSchema): Promise<boolean> {
  const waiting = await space.read(async (run) => {
    const [row] = await run(
      `select exists (select 1 from ${space.schema}.kv where ends_at <= ${clockMs}) as expired,
        exists (select 1 from ${space.schema}.dropped) as dropped`,
    )
    return { expired: booleanAt(row, 'expired'), dropped: booleanAt(row, 'dropped') }
  })
  const expired = { where: `ends_at <= ${clockMs}`, order: 'ends_at', values: [] }
  const removed = waiting.expired
    ? (await space.write((unit) => removePairs(unit, `${space.schema}.kv`, expired))).removed
    : 0
  const isDropping = waiting.dropped && (await removeDropped(space))
  return removed > 0 || isDropping
}

/** Dropping a table takes the same time whatever it holds. A snapshot may still read it; then it stays until the next time. */
function removeDropped({ schema, write }: SpaceSchema): Promise<boolean> {
  return write(async ({ run, count }) => {
    const [lock] = await run('select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as free', schema)
    if (!booleanAt(lock, 'free')) return false
    const [dropped] = await run(
      `delete from ${schema}.dropped where name = (select min(name) from ${schema}.dropped) returning *`,
    )
    if (dropped === undefined) return false
    await run(`drop table ${schema}.${textAt(dropped, 'name')}`)
    count(-numberAt(dropped, 'bytes'))
    return true
  })
}
