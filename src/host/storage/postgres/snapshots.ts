import type { CollectionSize, IndexState, Snapshot } from '../../ports.js'
import { unavailable } from '../faults.js'
import type { OpenSnapshots } from '../opened-space.js'
import { readDocuments } from './documents.js'
import { readIndexes } from './indexes.js'
import { clockMs, pairs } from './key-values.js'
import { type Connection, type Pool, repeatable, runOn } from './pool.js'
import { numberAt } from './rows.js'
import type { SchemaReader } from './space-schema.js'

/** A reader that the front has lost sight of ends by itself. The front cuts slow ones off sooner. */
const idleMs = 5 * 60 * 1000

type Reader = Omit<Snapshot, 'close'>

interface Open {
  reader: Reader
  close(): Promise<void>
}

/** The snapshots of one space's schema, each a transaction on a connection of its own. The front counts them and ends them. */
export function createSnapshots(pool: Pool, schema: string): OpenSnapshots {
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
