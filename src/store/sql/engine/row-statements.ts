import type { CompiledQuery, Kysely, RawBuilder } from 'kysely'
import { Taken } from '../../refused.js'
import type { Condition, Page, PagePlace, Query } from '../../unit.js'
import type { Flavour } from './flavour.js'
import { isUniqueViolation } from './retry.js'
import type { Tables } from './schema.js'

/** What a statement needs of a table. */
export interface StatedTable {
  name: string
  key: readonly string[]
  unique?: readonly (readonly string[])[]
}

export type Values = Readonly<Record<string, string | number | null>>

/** What a conditional write changes, as `Write` in store/unit.ts. */
export interface Changes {
  set?: object
  raise?: readonly string[]
}

export interface Reading extends Page {
  lock?: boolean
  /** Rows after that place, newest first. */
  after?: PagePlace | null
  /** Default: all. */
  columns?: readonly string[]
}

/** Each is one statement on one table. */
export interface RowStatements {
  select(table: StatedTable, query: Query, reading?: Reading): Promise<Values[]>
  /** @throws {Taken} for a row of a table with `unique` that another one excludes */
  insert(table: StatedTable, rows: readonly object[]): Promise<void>
  /** Writes the columns that differ. @throws {Taken} as `insert` */
  update(table: StatedTable, former: object, row: object): Promise<void>
  /** @returns how many rows it has changed */
  change(table: StatedTable, query: Query, changes: Changes): Promise<number>
  /** @returns how many rows it has removed */
  remove(table: StatedTable, rows: readonly object[]): Promise<number>
  drop(table: StatedTable, query: Query): Promise<void>
  /** Writes no row, and takes the right to write where a database gives it to one transaction at a time. */
  writeNothing(): Promise<void>
}

export function createRowStatements(flavour: Flavour, db: Kysely<Tables>): RowStatements {
  const { sql } = flavour

  async function change(table: StatedTable, query: Query, { set = {}, raise = [] }: Changes): Promise<number> {
    const columns = [
      ...Object.entries(set).map(([column, value]) => sql`${sql.ref(column)} = ${value}`),
      ...raise.map((column) => sql`${sql.ref(column)} = ${sql.ref(column)} + 1`),
    ]
    const where = conditionsOf(flavour, table, query)
    const update = sql`update ${sql.table(table.name)} set ${sql.join(columns)} where ${where}`
    const { numAffectedRows } = await update.execute(db).catch((error) => explain(table, error))
    return Number(numAffectedRows ?? 0)
  }

  async function insert(table: StatedTable, rows: readonly object[]): Promise<void> {
    const columns = Object.keys(rows[0] ?? {})
    const values = rows.map((row) => {
      const cells = cellsOf(row)
      return sql`(${sql.join(columns.map((column) => cells.get(column)))})`
    })
    const names = sql.join(columns.map((column) => sql.ref(column)))
    const insert = sql`insert into ${sql.table(table.name)} (${names}) values ${sql.join(values)}`
    await insert.execute(db).catch((error) => explain(table, error))
  }

  return {
    select: (table, query, reading) => select(flavour, db, { table, query, ...reading }),
    change,
    insert,
    async update(table, former, row) {
      const cells = cellsOf(former)
      const changed = Object.entries(row).filter(([column, value]) => cells.get(column) !== value)
      if (changed.length === 0) return
      const changes = { set: Object.fromEntries(changed) }
      // A row that the step itself has dropped is new again.
      if ((await change(table, keyIn(table, former), changes)) === 0) await insert(table, [row])
    },
    async remove(table, rows) {
      if (rows.length === 0) return 0
      const removal = sql`delete from ${sql.table(table.name)} where ${keysOf(flavour, table, rows)}`
      return Number((await removal.execute(db)).numAffectedRows ?? 0)
    },
    async drop(table, query) {
      if (Object.values(query).some(asksForNone)) return
      await sql`delete from ${sql.table(table.name)} where ${conditionsOf(flavour, table, query)}`.execute(db)
    },
    async writeNothing() {
      await sql`update latchkey_installation set slot = slot where slot = 0`.execute(db)
    },
  }
}

type Selection = Reading & { table: StatedTable; query: Query }

/** Reads of one shape differ in their values alone, and compiling a statement takes longer than running it. */
async function select(flavour: Flavour, db: Kysely<Tables>, selection: Selection): Promise<Values[]> {
  if (Object.values(selection.query).some(asksForNone)) return []
  const [shape, values] = [shapeOf(selection), valuesOf(selection)]
  const known = flavour.selections.get(shape)
  const again: CompiledQuery<Values> | undefined = known && { ...known, parameters: values }
  if (again) return (await db.executeQuery(again)).rows
  const compiled = selectionOn(flavour, db, selection).compile()
  const isInOrder = compiled.parameters.every((value, index) => value === values[index])
  if (isInOrder && compiled.parameters.length === values.length) flavour.selections.set(shape, compiled)
  return (await db.executeQuery(compiled)).rows
}

function shapeOf({ table, query, sort, limit, lock, after, columns }: Selection): string {
  const conditions = Object.entries(query).map(([column, condition]) => {
    if (typeof condition !== 'object') return [column, condition === undefined]
    if ('in' in condition) return [column, condition.in.length]
    return [column, Object.entries(condition).flatMap(([bound, value]) => (value === undefined ? [] : [bound]))]
  })
  return JSON.stringify([table.name, conditions, sort, limit === undefined, lock, Boolean(after), columns])
}

/** In the order in which a statement has them. */
function valuesOf({ query, limit, after }: Selection): unknown[] {
  const conditions = Object.values(query).flatMap((condition): unknown[] => {
    if (typeof condition !== 'object') return condition === undefined ? [] : [condition]
    if ('in' in condition) return [...condition.in]
    if ('ne' in condition) return [condition.ne]
    const { lt, lte, gt, gte } = condition
    return [lt, lte, gt, gte].filter((bound) => bound !== undefined)
  })
  const place = after ? [after.createdAt, after.createdAt, after.id] : []
  return [...conditions, ...place, ...(limit === undefined ? [] : [limit])]
}

function selectionOn(flavour: Flavour, db: Kysely<Tables>, selection: Selection) {
  const { sql } = flavour
  const { table, query, sort = {}, limit, lock = false, after = null, columns } = selection
  const from = db.selectFrom(sql<Values>`${sql.table(table.name)}`.as(table.name))
  let rows = columns
    ? from.select(columns.map((column) => sql<string>`${sql.ref(column)}`.as(column)))
    : from.selectAll()
  if (Object.keys(query).length > 0) rows = rows.where(conditionsOf(flavour, table, query))
  if (after) rows = rows.where(flavour.before(['created_at', 'id'], [after.createdAt, after.id]))
  for (const [column, direction] of Object.entries(sort)) {
    rows = rows.orderBy(sql.ref(column), direction === 1 ? 'asc' : 'desc')
  }
  if (limit !== undefined) rows = rows.limit(limit)
  // PostgreSQL: foreign keys to a row that is locked in this way can still be written.
  if (lock && flavour.name !== 'sqlite') rows = flavour.name === 'mysql' ? rows.forUpdate() : rows.forNoKeyUpdate()
  return rows
}

/** A unique index refuses the row. */
function explain({ unique }: StatedTable, error: unknown): never {
  throw unique && isUniqueViolation(error) ? new Taken() : error
}

function cellsOf(row: object): ReadonlyMap<string, unknown> {
  return new Map(Object.entries(row))
}

/** The condition that a row has the key of this one. */
export function keyIn({ key }: StatedTable, row: object): Query {
  return Object.fromEntries(Object.entries(row).filter(([column]) => key.includes(column)))
}

function keysOf(flavour: Flavour, table: StatedTable, rows: readonly object[]): RawBuilder<boolean> {
  const { sql } = flavour
  const [row, ...further] = rows
  if (row && further.length === 0) return conditionsOf(flavour, table, keyIn(table, row))
  const [column, ...others] = table.key
  if (column !== undefined && others.length === 0) {
    return sql<boolean>`${sql.ref(column)} in (${sql.join(rows.map((each) => cellsOf(each).get(column)))})`
  }
  const each = rows.map((row) => sql`(${conditionsOf(flavour, table, keyIn(table, row))})`)
  return sql<boolean>`${sql.join(each, sql` or `)}`
}

/** A list without a member: no row is in it, and no database knows it. */
function asksForNone(condition: Condition | undefined): boolean {
  return typeof condition === 'object' && 'in' in condition && condition.in.length === 0
}

function conditionsOf(flavour: Flavour, table: StatedTable, query: Query): RawBuilder<boolean> {
  const { sql } = flavour
  const all = Object.entries(query).flatMap(([name, condition]) => {
    const column = sql.ref(name === 'key' ? (table.key[0] ?? name) : name)
    return condition === undefined ? [] : conditions(flavour, column, condition)
  })
  return sql<boolean>`${sql.join(all, sql` and `)}`
}

function conditions({ sql }: Flavour, column: RawBuilder<unknown>, condition: Condition): RawBuilder<unknown>[] {
  if (typeof condition !== 'object') return [sql`${column} = ${condition}`]
  if ('in' in condition) return [sql`${column} in (${sql.join(condition.in)})`]
  if ('ne' in condition) return [sql`${column} <> ${condition.ne}`]
  const { lt, lte, gt, gte } = condition
  return [
    ...(lt === undefined ? [] : [sql`${column} < ${lt}`]),
    ...(lte === undefined ? [] : [sql`${column} <= ${lte}`]),
    ...(gt === undefined ? [] : [sql`${column} > ${gt}`]),
    ...(gte === undefined ? [] : [sql`${column} >= ${gte}`]),
  ]
}
