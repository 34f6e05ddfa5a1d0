import type { StoreErrorCode } from '../documents/store-error.js'

/** How a query changes the documents that it finds. */
export type Change =
  | { kind: 'update'; operations: unknown }
  | { kind: 'replace'; document: unknown }
  | { kind: 'delete' }

/** A query of one collection, as it was asked: its parts are judged where it runs. */
export interface QueryTask {
  kind: 'query'
  collection: string
  /** undefined matches everything. */
  filter?: unknown
  /** `sort`, `fields`, `limit`, `offset`, `reverse`, `useIndex`, `start`, `end`. */
  options: Readonly<Record<string, unknown>>
  /** null: it only reads. */
  change: Change | null
  /** Changes the document only in this version. */
  ifVersion: number | null
  /** Counts what it finds, and gives no rows. */
  countOnly: boolean
  /** Rows are `{ version, document }`. */
  versions: boolean
}

/** JSON lines that become documents of one collection. */
export interface ImportTask {
  kind: 'import'
  collection: string
  /** Replaces documents that exist. */
  upsert: boolean
  /** Checks every line and writes nothing. */
  dryrun: boolean
}

export type Task = QueryTask | ImportTask

/** What is wrong with a line, counted from 1. */
export interface LineFault {
  line: number
  fault: string
}

/** How far an import is. */
export interface ImportState {
  /** The number of the last line that was written or refused. */
  processed: number
  imported: number
  /** Lines that were not imported. */
  faults: number
}

export interface ImportOutcome extends ImportState {
  /** The first 1,000 of them. */
  failed: readonly LineFault[]
}

/** What a worker reports, at the pace of its reader. */
export type TaskEvent =
  /** Rows of JSON, each with its line end. */
  | { kind: 'rows'; text: string }
  | { kind: 'progress'; state: ImportState }
  /** The last one of a query: how many documents it found, or changed. */
  | { kind: 'count'; count: number }
  /** The last one of an import. */
  | { kind: 'imported'; outcome: ImportOutcome; fault: TaskFault | null }

export interface TaskFault {
  code: StoreErrorCode
  message: string
}

/** What a worker begins with. */
export interface WorkerStart {
  task: Task
  /** mingo's CommonJS build. */
  mingo: string
  /** Whether a dot in the name of a field is part of the name. */
  literalDots: boolean
  /** Of a document as it is stored. */
  documentBytes: number
}

/** From the worker to the front. */
export type WorkerMessage =
  | { kind: 'call'; id: number; path: string; body: string }
  /** The next piece of the upload is wanted. */
  | { kind: 'read' }
  | { kind: 'event'; event: TaskEvent }
  | { kind: 'fault'; fault: TaskFault }

/** From the front to the worker. */
export type FrontMessage =
  /** The first one. */
  | { kind: 'start'; start: WorkerStart }
  | { kind: 'reply'; id: number; status: number; body: string | Uint8Array }
  /** null: the upload has ended. */
  | { kind: 'piece'; bytes: Uint8Array | null }
  /** The upload broke off. */
  | { kind: 'broken' }
  /** The next event is wanted. */
  | { kind: 'next' }
