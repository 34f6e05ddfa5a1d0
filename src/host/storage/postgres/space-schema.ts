import { Lost } from '../../../store/sql/engine/server-faults.js'
import { StoreError } from '../../documents/store-error.js'
import { type Connection, numberAt, type Pool, type Run, repeatable, runOn } from './pool.js'
import { migrate } from './schema.js'

/** What reads a schema. */
export interface SchemaReader {
  /** The quoted name, for the text of statements. */
  schema: string
  /** Runs statements that change nothing, on one connection. They may run more than once. */
  read<T>(work: (run: Run) => Promise<T>): Promise<T>
}

/** The schema of one generation of a space's data. */
export interface SpaceSchema extends SchemaReader {
  /** As `read`, but every statement sees the same data, whatever others write meanwhile. */
  readAtOnce: SchemaReader['read']
  /**
   * Runs `work` in one transaction, which is on the disk when this resolves. Writes of a space come one after another. When the
   * connection breaks before the commit, nothing has happened, and `work` runs again.
   *
   * @throws {StoreError} `quota_exceeded` when it adds bytes that the quota has no room for
   */
  write<T>(work: (unit: Unit) => Promise<T>): Promise<T>
  /** The last version, from now on `above` at least. */
  raiseVersions(above: number): Promise<number>
  /** The bytes that count against the quota. */
  usedBytes(): Promise<number>
}

/** A transaction that has locked the space. */
export interface Unit {
  run: Run
  schema: string
  /** The last of as many new versions. */
  takeVersions(count: number): number
  /**
   * Counts bytes that the transaction adds or, below 0, frees.
   *
   * @throws {StoreError} `quota_exceeded`
   */
  count(bytes: number): void
}

/** What a row counts with, besides its text: its id or key, and what the server keeps with it. */
export const rowBytes = 128

/** @throws {StoreError} `store_unavailable` for a schema of a newer version; any other error of the driver */
export async function openSpaceSchema(pool: Pool, name: string, quotaBytes: number): Promise<SpaceSchema> {
  const schema = `"${name}"`
  await repeatable(() => transaction(pool, (run) => migrate(run, schema)))
  const read: SpaceSchema['read'] = (work) => repeatable(() => connected(pool, (client) => work(runOn(client))))
  const readAtOnce: SpaceSchema['read'] = (work) =>
    repeatable(() => transaction(pool, work, 'repeatable read read only'))
  const write: SpaceSchema['write'] = (work) =>
    repeatable(() =>
      transaction(pool, async (run) => {
        const { unit, save } = await lock(run, schema, quotaBytes)
        const result = await work(unit)
        await save()
        return result
      }),
    )
  return {
    ...{ schema, read, readAtOnce, write },
    raiseVersions: (above) => write(async (unit) => unit.takeVersions(Math.max(0, above - unit.takeVersions(0)))),
    usedBytes: () => read(async (run) => numberAt((await run(`select bytes from ${schema}.space`))[0], 'bytes')),
  }
}

/** `save` writes the row of the space at the end, once: until a snapshot ends, the server keeps every version of the row. */
async function lock(run: Run, schema: string, quotaBytes: number): Promise<{ unit: Unit; save(): Promise<void> }> {
  const [row] = await run(`select version, bytes from ${schema}.space for update`)
  const before = { version: numberAt(row, 'version'), bytes: numberAt(row, 'bytes') }
  let { version, bytes } = before
  const unit: Unit = {
    run,
    schema,
    takeVersions(count) {
      version += count
      return version
    },
    count(added) {
      bytes += added
      if (added <= 0 || bytes <= quotaBytes) return
      throw new StoreError('quota_exceeded', 'The space has used up its quota.')
    },
  }
  return {
    unit,
    async save() {
      if (version === before.version && bytes === before.bytes) return
      await run(`update ${schema}.space set version = $1, bytes = $2`, version, bytes)
    },
  }
}

async function connected<T>(pool: Pool, work: (client: Connection) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  try {
    return await work(client)
  } finally {
    client.release()
  }
}

/** A commit whose answer was lost may have happened, so it is not repeated. */
class Unknown extends Error {}

function transaction<T>(pool: Pool, work: (run: Run) => Promise<T>, mode = 'read committed'): Promise<T> {
  return connected(pool, async (client) => {
    await client.query(`begin isolation level ${mode}`, [])
    const result = await work(runOn(client)).catch(async (error: unknown) => {
      await client.query('rollback', [])
      throw error
    })
    await client.query('commit', []).catch((error: unknown) => {
      throw error instanceof Lost ? new Unknown('The outcome is unknown.', { cause: error }) : error
    })
    return result
  })
}
