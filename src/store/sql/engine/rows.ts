import type { Kysely } from 'kysely'
import { rowOf, type Table } from '../../tables.js'
import type { Page, Query, Unit, View } from '../../unit.js'
import type { Flavour } from './flavour.js'
import { parts } from './parts.js'
import { createRowStatements, keyIn, type RowStatements } from './row-statements.js'
import type { Tables } from './schema.js'

/** The rows of a unit. */
export type Rows = Pick<Unit, 'get' | 'find' | 'newest' | 'put' | 'remove' | 'drop'>

const newestFirst = { created_at: -1, id: -1 } as const

/** Reads without a transaction, each one statement. */
export function createView(flavour: Flavour, db: Kysely<Tables>): View {
  const { select } = createRowStatements(flavour, db)
  return {
    async get(table, key) {
      const [row] = await select(table, keyIn(table, key))
      return row ? rowOf(row) : null
    },
    find: async (table, query, page) => (await select(table, query, page)).map((row) => rowOf(row)),
    async newest(table, after, { query, limit }) {
      return (await select(table, query, { sort: newestFirst, limit, after })).map((row) => rowOf(row))
    },
  }
}

/** Rows in a transaction. The locked ones are remembered, so that a put writes the columns that have changed. */
export function createRows(flavour: Flavour, db: Kysely<Tables>): Rows {
  const statements = createRowStatements(flavour, db)
  const view = createView(flavour, db)
  const known = createKnownRows()
  const lock = createWriteLock(flavour, statements)

  async function find<R extends object, K extends keyof R>(
    table: Table<R, K>,
    query: Query,
    page: Page & { lock?: true } = {},
  ): Promise<R[]> {
    await lock.take()
    const rows: R[] = (await statements.select(table, query, page)).map((values) => rowOf(values))
    for (const row of rows) known.read(placeOf(table, row), row, page.lock === true)
    return rows
  }

  return {
    find,
    async get(table, key) {
      const [row] = await find(table, keyIn(table, key), { lock: true })
      // MySQL ignores blanks at the end of a text.
      return row && table.keyOf(row) === table.keyOf(key) ? row : null
    },
    async newest(table, after, page) {
      await lock.take()
      return view.newest(table, after, page)
    },
    async put(table, ...rows) {
      const added: object[] = []
      for (const row of rows) {
        const former = known.replace(placeOf(table, row), row)
        if (former) await statements.update(table, former, row)
        else added.push(row)
      }
      for (const part of parts(added)) await statements.insert(table, part)
      lock.taken()
    },
    async remove(table, rows) {
      for (const row of rows) known.forget(placeOf(table, row))
      for (const part of parts(rows)) await statements.remove(table, part)
      lock.taken()
    },
    async drop(table, query) {
      await statements.drop(table, query)
      lock.taken()
    },
  }
}

/**
 * SQLite refuses the lock for writing to a transaction that has read an older state (SQLITE_BUSY_SNAPSHOT). So a transaction
 * takes it before it reads.
 */
function createWriteLock({ name }: Flavour, { writeNothing }: RowStatements) {
  let isTaken = name !== 'sqlite'
  return {
    taken() {
      isTaken = true
    },
    async take() {
      if (!isTaken) await writeNothing()
      isTaken = true
    },
  }
}

/** What a transaction knows of its rows, by table and key. */
function createKnownRows() {
  const locked = new Map<string, object>()
  const seen = new Set<string>()
  return {
    read(place: string, row: object, isLocked: boolean): void {
      if (isLocked) locked.set(place, row)
      else seen.add(place)
    },
    /** The row to replace; none for a new one. @throws {Error} for a row that was read without a lock */
    replace(place: string, row: object): object | undefined {
      const former = locked.get(place)
      if (!former && seen.has(place))
        throw new Error(`A step changes a row that it has not locked: ${place.split(' ')[0]}`)
      locked.set(place, { ...row })
      return former
    },
    forget(place: string): void {
      locked.delete(place)
      seen.delete(place)
    },
  }
}

function placeOf<R extends object, K extends keyof R>(table: Table<R, K>, row: R): string {
  return `${table.name} ${table.keyOf(row)}`
}
