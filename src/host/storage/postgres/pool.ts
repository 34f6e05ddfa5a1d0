import { memberOf } from '../../../lib/members.js'
import { openPostgresPool } from '../../../store/sql/engine/postgres.js'
import { parseServerUrl } from '../../../store/sql/engine/server-address.js'
import { isCut, Lost } from '../../../store/sql/engine/server-faults.js'

/** A connection of a pool. */
export interface Connection {
  query(text: string, values: readonly unknown[]): Promise<{ rows: unknown[] }>
  release(): void
}

export interface Pool {
  connect(): Promise<Connection>
  end(): Promise<void>
}

/** Runs a statement and gives its rows. */
export type Run = (sql: string, ...parameters: readonly unknown[]) => Promise<unknown[]>

/** The pools of a data thread, which all its spaces share. */
export interface Pools {
  /** For calls. A space has fewer calls under way than there are connections, so a slow one leaves some for the others. */
  calls: Pool
  /** Each snapshot keeps a connection for as long as it is read. */
  snapshots: Pool
}

const connections = { calls: 8, snapshots: 16 }

/** The parameter `connection_limit` of the URL is that of the accounts. */
export function openPools(url: string): Pools {
  const address = parseServerUrl('postgres', url)
  // Tables of spaces grow from nothing. A plan from when they were small reads all of a large one.
  const open = (connectionLimit: number): Pool => openPostgresPool({ ...address, connectionLimit }, { prepares: false })
  return { calls: open(connections.calls), snapshots: open(connections.snapshots) }
}

export function runOn(client: Connection): Run {
  return async (sql, ...parameters) => (await client.query(sql, parameters)).rows
}

/**
 * Runs `work` again where nothing has happened: the connection broke, or a table was dropped meanwhile (undefined_table). Not
 * after a timeout: the caller has waited already. A server that restarts breaks every connection of a pool, and each may be found
 * out only when it is used.
 */
export async function repeatable<T>(work: () => Promise<T>): Promise<T> {
  for (let failures = 1; ; failures += 1) {
    try {
      return await work()
    } catch (error) {
      const mayRepeat = isCut(error) || memberOf(error, 'code') === '42P01'
      const most = error instanceof Lost ? connections.snapshots : 1
      if (!mayRepeat || failures > most) throw error
    }
  }
}

/** A column of a row that the schema declares as an integer. Drivers give a `bigint` as text, as a number or as a BigInt. */
export function numberAt(row: unknown, column: string): number {
  const value = memberOf(row, column)
  const number = typeof value === 'string' || typeof value === 'bigint' ? Number(value) : value
  if (typeof number === 'number' && Number.isSafeInteger(number)) return number
  throw new TypeError(`The column ${column} holds no integer.`)
}

export function nullableNumberAt(row: unknown, column: string): number | null {
  return memberOf(row, column) === null ? null : numberAt(row, column)
}

/** A column of a row that the schema declares as text. */
export function textAt(row: unknown, column: string): string {
  const value = memberOf(row, column)
  if (typeof value === 'string') return value
  throw new TypeError(`The column ${column} holds no text.`)
}

export function booleanAt(row: unknown, column: string): boolean {
  const value = memberOf(row, column)
  if (typeof value === 'boolean') return value
  throw new TypeError(`The column ${column} holds no boolean.`)
}

export function isNullAt(row: unknown, column: string): boolean {
  return memberOf(row, column) === null
}

/** The UTF-8 text of a column that the schema declares as bytes. */
export function bytesTextAt(row: unknown, column: string): string {
  return bytesAt(row, column).toString()
}

export function bytesAt(row: unknown, column: string): Buffer {
  const value = memberOf(row, column)
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  throw new TypeError(`The column ${column} holds no bytes.`)
}
