import type { AuditEvent } from '../model/audit-event.js'
import type { Change } from '../model/change.js'
import type { ImpersonatedSession } from '../model/session.js'
import type { Table } from './tables.js'
import type { AdminEmails } from './users.js'

/** What a column must be. */
export type Condition =
  | string
  | number
  | { in: readonly string[] }
  | { lt?: number; lte?: number; gt?: number; gte?: number }
  | { ne: string }

/** All of it must hold. The column `key` stands for the key of a table that has one key column. */
export type Query = Readonly<Record<string, Condition | undefined>>

export interface Page {
  /** 1: ascending, -1: descending; the first column counts most. */
  sort?: Readonly<Record<string, 1 | -1>>
  limit?: number
}

/** Rows that are listed newest first. */
export interface Created {
  id: string
  created_at: number
}

/** The last row of the previous page. */
export interface PagePlace {
  createdAt: number
  id: string
}

/** Rows as they are read. */
export interface View {
  get<R extends object, K extends keyof R>(table: Table<R, K>, key: Pick<R, K>): Promise<R | null>
  find<R extends object, K extends keyof R>(table: Table<R, K>, query: Query, page?: Page): Promise<R[]>
  /** A page of rows, newest first; those of the same second by descending id. */
  newest<R extends Created, K extends keyof R>(
    table: Table<R, K>,
    after: PagePlace | null,
    page: { query: Query; limit: number },
  ): Promise<R[]>
}

/**
 * A step under way: all of it happens, or nothing. It sees its own writes.
 *
 * The rule for steps that run at the same time: a row that decides or is changed is read by `get`, or by `find` with `lock`.
 * No other step changes it from then on. A step reads the user's row before it locks other rows of that user, so that few steps
 * wait for each other. The database ends a step that does, and it is tried again.
 */
export interface Unit extends View {
  randomId(): string
  ordinal(): number
  /** The row, which no other step changes until this one ends. */
  get<R extends object, K extends keyof R>(table: Table<R, K>, key: Pick<R, K>): Promise<R | null>
  /** With `lock`, no other step changes the rows until this one ends. */
  find<R extends object, K extends keyof R>(
    table: Table<R, K>,
    query: Query,
    page?: Page & { lock?: true },
  ): Promise<R[]>
  /**
   * Replaces each row that this step has read and locked. Any other row is new.
   *
   * @throws {Taken} if another row has the key or unique columns of a row, here or at the end of the step. In a table without
   *   `unique`, such a step fails.
   */
  put<R extends object, K extends keyof R>(table: Table<R, K>, ...rows: readonly R[]): Promise<void> | void
  /** Removes rows that this step has read or put. */
  remove<R extends object, K extends keyof R>(table: Table<R, K>, rows: readonly R[]): Promise<void> | void
  /** Removes the rows that the query finds. */
  drop<R extends object, K extends keyof R>(table: Table<R, K>, query: Query): Promise<void>
  /** Makes other steps with this name wait for this one to end. For steps that no single row can decide. */
  alone(name: string): Promise<void>
  /**
   * Whether that account is the only one left that may administer. Locks what the answer depends on.
   *
   * @param now Unix seconds
   */
  isLastAdmin(id: string, emails: AdminEmails, now: number): Promise<boolean>
  /** Records an event of the step. Events are appended to the audit log, in this order, after all other writes but change rows. */
  audit(event: AuditEvent): void
  /**
   * Writes one change row for each subject, dated by the store's clock, as the last write of the step.
   *
   * @param until Unix seconds
   */
  change(kind: Change['kind'], subjects: readonly string[], until: number, version?: number): void
  /** Whether the step has written mails. The worker is notified after the step. */
  mailed: boolean
  /** The impersonated sessions that the step has removed and whose end it has not recorded yet. */
  unrecorded: ImpersonatedSession[]
}

/** A write that one condition decides. */
export interface Write<R> {
  /** The rows to change. */
  query: Query
  set?: Partial<R>
  /** Columns that rise by 1. */
  raise?: readonly (keyof R & string)[]
}

/** What every noun of the store works with. */
export interface Steps {
  /** Reads that need no more than the rows each query finds. */
  glance<T>(run: (view: View) => Promise<T>): Promise<T>
  /** Reads that belong together. A Datastore shows each step whole or not at all. SQL shows what is committed at each read. */
  read<T>(run: (view: View) => Promise<T>): Promise<T>
  /** One step. A `Refused` thrown inside undoes everything; with `refused`, the step then returns that value. */
  transaction<T>(run: (unit: Unit) => Promise<T>, refused?: T): Promise<T>
  /** One conditional write without a step around it. Whether it has changed a row. */
  write<R extends object, K extends keyof R>(table: Table<R, K>, write: Write<R>): Promise<boolean>
  /** Removes rows that stay due until they are removed; returns how many. */
  removeDue<R extends object, K extends keyof R>(table: Table<R, K>, query: Query, page: Page): Promise<number>
}
