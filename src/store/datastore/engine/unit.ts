import type { AuditEvent } from '../../../model/audit-event.js'
import type { Change } from '../../../model/change.js'
import { isLastByRole } from '../../accounts/last-admin.js'
import { toChange } from '../../changes.js'
import { Taken } from '../../refused.js'
import { changes, rowOf, type Table } from '../../tables.js'
import type { Page, Query, Unit as SharedUnit, View } from '../../unit.js'
import type { Connection } from './connection.js'
import type { Found, Row } from './document.js'
import type { Write } from './journal.js'
import { newestBefore } from './newest-before.js'
import { matches, sortAndCut } from './query.js'

/** A step under way, whose writes are stored after the decision. Steps run one after another, so rows need no lock. */
export interface Unit extends SharedUnit {
  /** Replaces the row under that key if this step has read it. Otherwise the row is new, and the step fails if it exists. */
  put<R extends object, K extends keyof R>(table: Table<R, K>, ...rows: readonly R[]): void
  remove<R extends object, K extends keyof R>(table: Table<R, K>, rows: readonly R[]): void
  /** Changes that this process publishes after the step. */
  changes: Change[]
  audited: AuditEvent[]
}

/** The writes that the unit has collected. */
export interface Collected {
  unit: Unit
  /** @throws {Error} when a row that is new here exists already */
  writes(): Promise<Write[]>
}

export interface UnitOptions extends Pick<Unit, 'randomId' | 'ordinal'> {
  /** The time of this step's change rows: this process's clock, but later than any stored row. Unix milliseconds. */
  changeMs(): number
}

export function createView(connection: Connection): View {
  return viewBy(createRows(connection).find)
}

function viewBy(find: View['find']): View {
  return {
    find,
    get: async (table, key) => (await find(table, { key: table.keyOf(key) }))[0] ?? null,
    newest: (table, after, page) => newestBefore({ find }, table, after, page),
  }
}

export function createUnit(connection: Connection, { changeMs, ...tools }: UnitOptions): Collected {
  const { find, stage, writes } = stageRows(connection)
  const unit: Unit = {
    ...tools,
    ...viewBy(find),
    put: (table, ...rows) => {
      for (const row of rows) stage(table, row, true)
    },
    remove: (table, removed) => {
      for (const row of removed) stage(table, row, false)
    },
    drop: async (table, query) => unit.remove(table, await find(table, query)),
    alone: async () => {},
    isLastAdmin: (id, emails, now) => isLastByRole(unit, id, emails, now),
    audit: (event) => void unit.audited.push(event),
    change(kind, subjects, until, version) {
      const at_ms = changeMs()
      for (const subject of subjects) {
        const row = { id: unit.randomId(), at_ms, kind, subject, version: version ?? null, matters_until: until }
        unit.put(changes, row)
        unit.changes.push(toChange(row))
      }
    },
    changes: [],
    audited: [],
    mailed: false,
    unrecorded: [],
  }
  return { unit, writes }
}

/** The rows of a step: those that are stored, under those that it has written. */
function stageRows(connection: Connection) {
  const rows = createRows(connection)
  const pending = new Map<string, Write>()
  const claims = new Map<string, () => Promise<boolean>>()
  const former = new Map<string, object>()

  function stage<R extends object, K extends keyof R>(table: Table<R, K>, row: R, kept: boolean): void {
    const { name: collection, last } = table
    const key = table.keyOf(row)
    const place = placeOf(collection, key)
    const ids = rows.idsOf(place)
    claims.delete(place)
    if (kept && table.unique) claims.set(place, () => isTaken(table, row, { stored: former.get(place), find }))
    // A row that this step itself put was never stored.
    if (!kept && ids.length === 0) pending.delete(place)
    else {
      const write: Write = { collection, key, ids, row: kept ? toRow(row) : null, ...(last && { last }) }
      pending.set(place, write)
    }
  }

  async function find<R extends object, K extends keyof R>(
    table: Table<R, K>,
    query: Query,
    { sort, limit: most }: Page = {},
  ): Promise<R[]> {
    const page = { ...(sort && { sort }), ...(most !== undefined && { limit: most }) }
    const staged = [...pending.values()].filter(({ collection }) => collection === table.name)
    // More than asked for, because the step may have removed some of them.
    const limit = page.limit === undefined ? {} : { limit: page.limit + staged.length }
    const stored: R[] = await rows.find(table, query, { ...page, ...limit })
    if (table.unique) for (const row of stored) former.set(placeOf(table.name, table.keyOf(row)), row)
    if (staged.length === 0) return stored
    const kept = stored.filter((row) => !pending.has(placeOf(table.name, table.keyOf(row))))
    const own = staged.flatMap(({ row, key }) => (row && matches({ ...row, key }, query) ? [row] : []))
    return sortAndCut(
      [...kept.map((row) => toRow(row)), ...own].map((row) => ({ row })),
      page,
    ).map(({ row }) => rowOf(row))
  }

  return {
    find,
    stage,
    async writes() {
      for (const taken of claims.values()) if (await taken()) throw new Taken()
      const writes = [...pending.values()]
      await requireNew(connection, writes, (place) => claims.has(place))
      return writes
    },
  }
}

/** Whether another row has the key, or unique columns that the step has changed. */
async function isTaken<R extends object, K extends keyof R>(
  table: Table<R, K>,
  row: R,
  { stored, find }: { stored: object | undefined; find: View['find'] },
): Promise<boolean> {
  const key = table.keyOf(row)
  for (const columns of table.unique ?? []) {
    const query = Object.fromEntries(Object.entries(row).filter(([column]) => columns.some((each) => each === column)))
    if (stored && matches(toRow(stored), query)) continue
    if ((await find(table, query)).some((other) => table.keyOf(other) !== key)) return true
  }
  return false
}

/** Reads rows, and keeps the platform's ids of every document that it has seen. */
function createRows(connection: Connection) {
  const known = new Map<string, string[]>()
  return {
    idsOf: (place: string): readonly string[] => known.get(place) ?? [],
    async find<R extends object, K extends keyof R>(table: Table<R, K>, query: Query, page?: Page): Promise<R[]> {
      const { name: collection, nullable, defaults } = table
      const found = await ask(connection, table, query, page)
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
      return firsts.map(({ row }) => rowOf({ ...nulls, ...row, ...lacking(row, defaults) }))
    },
  }
}

/**
 * Documents of earlier releases lack columns with a default, so those stand in no query that the platform answers. A key column
 * is asked for by the field `key`, which has an index.
 */
async function ask<R extends object, K extends keyof R>(
  connection: Connection,
  { name, key, defaults = {} }: Table<R, K>,
  query: Query,
  page: Page = {},
): Promise<Found[]> {
  const isLate = (column: string) => column in defaults && query[column] !== undefined
  const isKey = (column: string) => key.length === 1 && column === key[0] && typeof query[column] === 'string'
  const columns = Object.entries(query).map(([column, condition]) => ({ column, condition }))
  const asked = Object.fromEntries(
    columns
      .filter(({ column }) => !isLate(column))
      .map(({ column, condition }) => [isKey(column) ? 'key' : column, condition]),
  )
  const judged = Object.fromEntries(
    columns.filter(({ column }) => isLate(column)).map(({ column, condition }) => [column, condition]),
  )
  if (Object.keys(judged).length === 0) return connection.find(name, asked, page)
  const found = await connection.find(name, asked)
  return sortAndCut(
    found.filter(({ row }) => matches({ ...row, ...lacking(row, defaults) }, judged)),
    page,
  )
}

/** The defaults of the columns that the document lacks. */
function lacking(row: Row, defaults: object = {}): Row {
  return Object.fromEntries(Object.entries(defaults).filter(([column]) => (row[column] ?? null) === null))
}

/** Keys should be unique by design. They are checked all the same, because other databases do so. */
async function requireNew(
  connection: Connection,
  writes: readonly Write[],
  isClaim: (place: string) => boolean,
): Promise<void> {
  const added = writes.filter(({ ids }) => ids.length === 0)
  const existing = await Promise.all(
    [...new Set(added.map(({ collection }) => collection))].map(async (collection) => {
      const keys = added.filter((write) => write.collection === collection).map(({ key }) => key)
      const found = await connection.find(collection, { key: { in: keys } })
      return found.map(({ key }) => placeOf(collection, key))
    }),
  )
  if (existing.flat().some(isClaim)) throw new Taken()
  if (existing.flat().length > 0) throw new Error('A document with that key exists already.')
}

function placeOf(collection: string, key: string): string {
  return `${collection} ${key}`
}

/** A copy, because the platform may keep the given object. */
function toRow(row: object): Row {
  return Object.fromEntries(Object.entries(row))
}
