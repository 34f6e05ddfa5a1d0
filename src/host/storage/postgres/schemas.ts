import { openPostgresPool } from '../../../store/sql/engine/postgres.js'
import { parseServerUrl } from '../../../store/sql/engine/server-address.js'
import type { GenerationPlaces } from '../generation-places.js'
import { judgeFault } from '../messages.js'
import { booleanAt, type Pool, type Run, runOn, textAt } from './pool.js'
import { draftName, requireName, schemaName } from './schema.js'

/** The schemas of all spaces. What `GenerationPlaces` names rejects with `StoreError`. */
export interface Schemas extends GenerationPlaces {
  /** Why the database can hold no spaces, with the cure; null: it can. */
  fault(): Promise<string | null>
  /** Drops every generation of a space, and drafts. */
  remove(spaceId: string): Promise<void>
  close(): Promise<void>
}

/** A statement that drops more tables at once could need more locks than the server has. */
const tablesAtOnce = 20

export function openSchemas(url: string): Schemas {
  const pool: Pool = openPostgresPool({ ...parseServerUrl('postgres', url), connectionLimit: 1 })

  /** Statements take turns on the connection, so a space that is removed for long keeps no other space from being opened. */
  const run: Run = async (sql, ...parameters) => {
    const client = await pool.connect()
    try {
      return await runOn(client)(sql, ...parameters)
    } finally {
      client.release()
    }
  }

  const judged = <T>(work: Promise<T>) => work.catch((error: unknown) => Promise.reject(judgeFault(error)))

  return {
    fault: () => faultOf(run),
    living: async (spaceId, generation) => ({ url, schema: schemaName(spaceId, generation) }),
    draft: async (spaceId, generation) => ({ url, schema: draftName(spaceId, generation) }),
    has: async (spaceId, generation) => judged(hasSchema(run, schemaName(spaceId, generation))),
    // Every commit is on the disk of the server.
    syncDraft: async () => {},
    adoptDraft: (spaceId, generation) => judged(adopt(run, spaceId, generation)),
    drafts: (spaceId) => judged(findSchemas(run, spaceId, 'draft').then((found) => found.map(generationOf))),
    removeDrafts: (spaceId, isOver) =>
      judged(removeSchemas(run, { spaceId, kind: 'draft', ...(isOver && { isOver }) })),
    isShared: true,
    removeGenerations: (spaceId, isOver) => judged(removeSchemas(run, { spaceId, kind: 'g', isOver })),
    remove: (spaceId) => removeSchemas(run, { spaceId, kind: '(g|draft)' }),
    close: () => pool.end(),
  }
}

async function faultOf(run: Run): Promise<string | null> {
  const [row] = await run(
    `select has_database_privilege(current_database(), 'CREATE') as allowed, current_setting('server_encoding') as encoding`,
  )
  if (!booleanAt(row, 'allowed')) {
    const cure = 'Run as the owner of the database: GRANT CREATE ON DATABASE <database> TO <user>'
    return `its user may not create schemas, and each space has one. ${cure}`
  }
  const encoding = textAt(row, 'encoding')
  if (encoding === 'UTF8') return null
  return `its encoding is ${encoding}, which cannot hold every document. Create one with: CREATE DATABASE <database> ENCODING 'UTF8' TEMPLATE template0`
}

async function adopt(run: Run, spaceId: string, generation: number): Promise<void> {
  const draft = draftName(spaceId, generation)
  if (await hasSchema(run, draft)) await run(`alter schema "${draft}" rename to "${schemaName(spaceId, generation)}"`)
}

async function hasSchema(run: Run, name: string): Promise<boolean> {
  const [found] = await run('select exists (select 1 from pg_namespace where nspname = $1) as present', name)
  return booleanAt(found, 'present')
}

interface Removed {
  spaceId: string
  /** A regular expression of what stands before the number of the generation. */
  kind: string
  /** Default: all. */
  isOver?: (generation: number) => boolean
}

async function removeSchemas(run: Run, { spaceId, kind, isOver = () => true }: Removed): Promise<void> {
  for (const schema of await findSchemas(run, spaceId, kind)) {
    if (!isOver(generationOf(schema))) continue
    await dropTables(run, schema)
    await run(`drop schema if exists "${schema}" cascade`)
  }
}

async function findSchemas(run: Run, spaceId: string, kind: string): Promise<string[]> {
  const name = `^lk_${requireName(spaceId)}_${kind}[0-9]+$`
  const found = await run('select nspname from pg_namespace where nspname ~ $1', name)
  return found.map((row) => textAt(row, 'nspname'))
}

function generationOf(schema: string): number {
  return Number(/\d+$/.exec(schema)?.[0])
}

async function dropTables(run: Run, schema: string): Promise<void> {
  for (;;) {
    const sql = `select tablename from pg_tables where schemaname = $1 limit ${tablesAtOnce}`
    const tables = (await run(sql, schema)).map((row) => `"${schema}"."${textAt(row, 'tablename')}"`)
    if (tables.length === 0) return
    await run(`drop table if exists ${tables.join(', ')}`)
  }
}
