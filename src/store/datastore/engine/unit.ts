import type { AuditEvent } from '../../../model/audit-event.js'
import type { Change } from '../../../model/change.js'
import type { ImpersonatedSession } from '../../../model/session.js'
import type { AuditSeal } from '../../audit/chain.js'
import type { Connection } from './connection.js'
import type { Found, Row } from './document.js'
import type { Write } from './journal.js'
import { matches, type Page, type Query, sortAndCut } from './query.js'
import type { Table } from './tables.js'

/** Rows as they are read. */
export interface View {
  get<R extends object>(table: Table<R>, key: string): Promise<R | null>
  find<R extends object>(table: Table<R>, query: Query, page?: Page): Promise<R[]>
}

/** A step under way. It sees its own writes; they are stored only after the decision. */
export interface Unit extends View {
  seal: AuditSeal
  randomId(): string
  ordinal(): number
  /** The time of this step's change rows: this process's clock, but later than any stored row. Unix milliseconds. */
  changeMs(): number
  /** Replaces the row under that key if this step has read it. Otherwise the row is new, and the step fails if it exists. */
  put<R extends object>(table: Table<R>, row: R): void
  /** Removes rows that this step has read or put. */
  remove<R extends object>(table: Table<R>, rows: readonly R[]): void
  /** Changes that this process publishes after the step. */
  changes: Change[]
  audited: AuditEvent[]
  mailed: boolean
  /** The impersonated sessions that the step has removed and whose end it has not recorded yet. */
  unrecorded: ImpersonatedSession[]
}

/** The writes that the unit has collected. */
export interface Collected {
  unit: Unit
  /** @throws {Error} when a row that is new here exists already */
  writes(): Promise<Write[]>
}

export type UnitOptions = Pick<Unit, 'seal' | 'randomId' | 'ordinal' | 'changeMs'>

export function createView(connection: Connection): View {
  const { find } = createRows(connection)
  return { find, get: async (table, key) => (await find(table, { key }))[0] ?? null }
}

export function createUnit(connection: Connection, options: UnitOptions): Collected {
  const rows = createRows(connection)
  const pending = new Map<string, Write>()

  function stage<R extends object>(table: Table<R>, row: R, kept: boolean): void {
    const { collection, last } = table
    const key = table.keyOf(row)
    const place = placeOf(collection, key)
    const ids = rows.idsOf(place)
    // A row that this step itself put was never stored.
    if (!kept && ids.length === 0) pending.delete(place)
    else {
      const write: Write = { collection, key, ids, row: kept ? toRow(row) : null, ...(last && { last }) }
      pending.set(place, write)
    }
  }

  async function find<R extends object>(table: Table<R>, query: Query, page: Page = {}): Promise<R[]> {
    const staged = [...pending.values()].filter(({ collection }) => collection === table.collection)
    // More than asked for, because the step may have removed some of them.
    const limit = page.limit === undefined ? {} : { limit: page.limit + staged.length }
    const stored: R[] = await rows.find(table, query, { ...page, ...limit })
    if (staged.length === 0) return stored
    const kept = stored.filter((row) => !pending.has(placeOf(table.collection, table.keyOf(row))))
    const own = staged.flatMap(({ row, key }) => (row && matches({ ...row, key }, query) ? [row] : []))
    return sortAndCut(
      [...kept.map((row) => toRow(row)), ...own].map((row) => ({ row })),
      page,
    ).map(({ row }) => fromRow(row))
  }

  const unit: Unit = {
    ...options,
    find,
    get: async (table, key) => (await find(table, { key }))[0] ?? null,
    put: (table, row) => stage(table, row, true),
    remove: (table, removed) => {
      for (const row of removed) stage(table, row, false)
    },
    changes: [],
    audited: [],
    mailed: false,
    unrecorded: [],
  }
  return {
    unit,
    async writes() {
      const writes = [...pending.values()]
      await requireNew(connection, writes)
      return writes
    },
  }
}

/** Reads rows, and keeps the platform's ids of every document that it has seen. */
function createRows(connection: Connection) {
  const known = new Map<string, string[]>()
  return {
    idsOf: (place: string): readonly string[] => known.get(place) ?? [],
    async find<R extends object>(table: Table<R>, query: Query, page?: Page): Promise<R[]> {
      const { collection, nullable } = table
      const found = await connection.find(collection, query, page)
      const nulls = Object.fromEntries(nullable.map((column) => [column, null]))
      const firsts: Found[] = []
      const fresh = new Map<string, string[]>()
      for (const document of found) {
        const place = placeOf(collection, document.key)
        const ids = fresh.get(place)
        if (ids) ids.push(document.id)
        else {
          firsts.push(document)
          fresh.set(place, [document.id])
        }
      }
      for (const [place, ids] of fresh) known.set(place, ids)
      return firsts.map(({ row }) => fromRow({ ...nulls, ...row }))
    },
  }
}

/** Keys should be unique by design. They are checked all the same, because other databases do so. */
async function requireNew(connection: Connection, writes: readonly Write[]): Promise<void> {
  const added = writes.filter(({ ids }) => ids.length === 0)
  const found = await Promise.all(
    [...new Set(added.map(({ collection }) => collection))].map((collection) => {
      const keys = added.filter((write) => write.collection === collection).map(({ key }) => key)
      return connection.find(collection, { key: { in: keys } })
    }),
  )
  if (found.some((documents) => documents.length > 0)) throw new Error('A document with that key exists already.')
}

function placeOf(collection: string, key: string): string {
  return `${collection} ${key}`
}

/** A copy, because the platform may keep the given object. */
function toRow(row: object): Row {
  return Object.fromEntries(Object.entries(row))
}

/** Boundary: only this store writes these documents. */
function fromRow<R>(row: Row): R {
  return Object.assign(Object.create(Object.prototype), row)
}
