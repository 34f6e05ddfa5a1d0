import { isWithinBounds } from '../documents/bounded-json.js'
import { requireCollection, requireField, requireId } from '../documents/names.js'
import { queryInvalid, StoreError } from '../documents/store-error.js'
import { isPlain } from '../documents/values.js'
import { type WireCall, type WirePort, wireLimits, type wireVerbs } from '../documents/wire.js'
import type {
  Documents,
  IfVersion,
  Indexes,
  KeyName,
  KeyValues,
  ScanOptions,
  StoredPair,
  VersionedChange,
} from '../ports.js'
import type { SnapshotRead, ThreadRequest } from './messages.js'
import { misshapen, requireIndexScan, requireLimit } from './scan-input.js'

export interface SpacePorts {
  documents: Documents
  indexes: Indexes
  keyValues: KeyValues
}

const maxKeyBytes = 1_024

type Verb = (ports: SpacePorts, input: readonly unknown[], bounds: CallBounds) => Promise<unknown>
type Verbs = { readonly [P in WirePort]: Readonly<Record<(typeof wireVerbs)[P][number], Verb>> }

const verbs: Verbs = {
  documents: {
    get: ({ documents }, [name, id]) => documents.get(requireCollection(name), requireId(id)),
    put: ({ documents }, [name, id, body, ifVersion], bounds) =>
      documents.put(requireCollection(name), requireId(id), requireBody(body, bounds), requireIfVersion(ifVersion)),
    remove: ({ documents }, [name, id, ifVersion]) =>
      documents.remove(requireCollection(name), requireId(id), requireNumberOrAny(ifVersion)),
    scan: ({ documents }, [name, options]) => documents.scan(requireCollection(name), requireScan(options)),
    putMany: ({ documents }, [name, rows, ifVersion], bounds) =>
      documents.putMany(requireCollection(name), requireRows(rows, bounds), requireAbsentOrAny(ifVersion)),
    changeMany: ({ documents }, [name, changes], bounds) =>
      documents.changeMany(requireCollection(name), requireChanges(changes, bounds)),
    count: ({ documents }, [name]) => documents.count(requireCollection(name)),
    drop: ({ documents }, [name]) => documents.drop(requireCollection(name)),
    list: ({ documents }) => documents.list(),
  },
  indexes: {
    list: ({ indexes }, [name]) => indexes.list(requireCollection(name)),
    create: ({ indexes }, [name, field, isUnique]) =>
      indexes.create(requireCollection(name), requireField(field), requireFlag(isUnique)),
    build: ({ indexes }, [name, field]) => indexes.build(requireCollection(name), requireField(field)),
    scan: ({ indexes }, [name, scan]) => indexes.scan(requireCollection(name), requireIndexScan(scan)),
    remove: ({ indexes }, [name, field]) => indexes.remove(requireCollection(name), requireField(field)),
  },
  keyValues: {
    get: ({ keyValues }, [name]) => keyValues.get(requireName(name)),
    set: ({ keyValues }, [name, value, ttl], bounds) =>
      keyValues.set(requireName(name), requireSize(requireText(value), bounds), requireTtl(ttl)),
    remove: ({ keyValues }, [name]) => keyValues.remove(requireName(name)),
    increment: ({ keyValues }, [name, by, ttl]) =>
      keyValues.increment(requireName(name), requireFinite(by), requireTtl(ttl)),
    page: ({ keyValues }, [keyspace, prefix, after]) =>
      keyValues.page(requireKey(keyspace), requireKey(prefix), after === null ? null : requireKey(after)),
    removePage: ({ keyValues }, [keyspace, prefix]) => keyValues.removePage(requireKey(keyspace), requireKey(prefix)),
  },
}

const reading: readonly string[] = ['get', 'scan', 'count', 'list', 'page']

/** Whether the call needs room on the disk. A deletion does, for the write-ahead log. */
export function isWriting({ verb }: WireCall): boolean {
  return !reading.includes(verb)
}

const waitingForNothing: readonly ThreadRequest['kind'][] = ['usage', 'beginSnapshot', 'readSnapshot', 'endSnapshot']

/** Whether the call leaves rows of dropped tables, which are deleted page by page afterwards. */
export function leavesRest({ port, verb }: WireCall): boolean {
  return verb === 'drop' || (port === 'indexes' && (verb === 'remove' || verb === 'build'))
}

/** Whether a thread may have to wait for the disk. */
export function mayCommit(request: ThreadRequest): boolean {
  return 'call' in request ? isWriting(request.call) : !waitingForNothing.includes(request.kind)
}

/**
 * Runs a call after it has checked every argument.
 *
 * @throws {StoreError} `query_invalid` for arguments of another shape, `quota_exceeded` for a document or value that is too
 *   large, and what the port throws
 */
export async function runCall(
  ports: SpacePorts,
  { port, verb }: WireCall,
  input: readonly unknown[],
  bounds: CallBounds,
): Promise<unknown> {
  const known: Readonly<Record<string, Verb>> = verbs[port]
  const run = Object.hasOwn(known, verb) ? known[verb] : undefined
  if (!run) throw queryInvalid('There is no such call.')
  return run(ports, input, bounds)
}

/** @throws {StoreError} `query_invalid`, `quota_exceeded` */
export function requirePairs(pairs: readonly StoredPair[], bounds: CallBounds): readonly StoredPair[] {
  for (const { value, endsAt, ...name } of pairs) {
    requireName(name)
    requireSize(value, bounds)
    if (endsAt !== null && !Number.isSafeInteger(endsAt)) throw misshapen()
  }
  return pairs
}

function requireFlag(value: unknown): boolean {
  if (typeof value === 'boolean') return value
  throw misshapen()
}

function requireIfVersion(value: unknown): IfVersion {
  return value === 'absent' ? value : requireNumberOrAny(value)
}

function requireNumberOrAny(value: unknown): number | 'any' {
  return value === 'any' ? value : requireFinite(value)
}

function requireAbsentOrAny(value: unknown): 'absent' | 'any' {
  if (value === 'absent' || value === 'any') return value
  throw misshapen()
}

function requireScan(value: unknown): ScanOptions {
  if (!isPlain(value) || typeof value.reverse !== 'boolean') throw misshapen()
  const { after, reverse, limit } = value
  return { after: after === null ? null : requireId(after), reverse, limit: requireLimit(limit) }
}

function requireName(value: unknown): KeyName {
  if (!isPlain(value)) throw misshapen()
  const name = { keyspace: requireKey(value.keyspace), key: requireKey(value.key) }
  if (name.key === '') throw queryInvalid('A key must be a text that is not empty.')
  return name
}

/** A key, a keyspace or a prefix. A lone surrogate has no UTF-8 bytes. */
function requireKey(value: unknown): string {
  const key = requireText(value)
  const isShort = key.length <= maxKeyBytes && Buffer.byteLength(key) <= maxKeyBytes
  if (isShort && !/\p{Surrogate}/u.test(key)) return key
  throw queryInvalid(`A key, keyspace or prefix is Unicode text of ${maxKeyBytes} bytes at most.`)
}

function requireTtl(value: unknown): number | null {
  if (value === null || (typeof value === 'number' && Number.isFinite(value) && value > 0)) return value
  throw queryInvalid('A lifetime must be a positive number of milliseconds.')
}

export interface CallBounds {
  /** Of a document's text, or a pair's value, in UTF-8. */
  documentBytes: number
  /** Levels of a document, which is itself level 0. */
  depth: number
}

const maxRows = 1_000

/** @throws {StoreError} `query_invalid` */
function requireText(value: unknown): string {
  if (typeof value === 'string') return value
  throw misshapen()
}

/** @throws {StoreError} `query_invalid` */
function requireFinite(value: unknown): number {
  if (typeof value === 'number' && Number.isFinite(value)) return value
  throw misshapen()
}

/** @throws {StoreError} `quota_exceeded` */
function requireSize(text: string, { documentBytes }: CallBounds): string {
  // No UTF-8 text has fewer bytes than characters.
  if (text.length <= documentBytes && Buffer.byteLength(text) <= documentBytes) return text
  throw new StoreError('quota_exceeded', `A document or value may have ${documentBytes} bytes at most.`)
}

/**
 * The database checks that it is JSON.
 *
 * @throws {StoreError} `query_invalid`, `quota_exceeded`
 */
function requireBody(value: unknown, bounds: CallBounds): string {
  const body = requireSize(requireText(value), bounds)
  if (!body.startsWith('{')) throw queryInvalid('A document must be a JSON object.')
  const { depth } = bounds
  if (isWithinBounds(body, { depth: depth + 1, parts: Number.POSITIVE_INFINITY })) return body
  throw queryInvalid(`The document nests deeper than ${depth} levels.`)
}

/** @throws {StoreError} `query_invalid`, `quota_exceeded` */
function requireRows(value: unknown, bounds: CallBounds): { id: string; body: string }[] {
  return requireMany(value, ({ id, body }) => ({ id: requireId(id), body: requireBody(body, bounds) }))
}

/** @throws {StoreError} `query_invalid`, `quota_exceeded` */
function requireChanges(value: unknown, bounds: CallBounds): VersionedChange[] {
  const changes = requireMany(value, ({ id, version, body }) => ({
    id: requireId(id),
    version: requireFinite(version),
    body: body === null ? null : requireBody(body, bounds),
  }))
  if (new Set(changes.map(({ id }) => id)).size === changes.length) return changes
  throw queryInvalid('Each change of a call must name another document.')
}

function requireMany<T extends { body: string | null }>(
  value: unknown,
  read: (row: Record<string, unknown>) => T,
): T[] {
  if (!Array.isArray(value)) throw misshapen()
  if (value.length > maxRows) throw queryInvalid(`At most ${maxRows} documents may be written at once.`)
  const rows = value.map((row: unknown) => {
    if (!isPlain(row)) throw misshapen()
    return read(row)
  })
  const bytes = rows.reduce((sum, { body }) => sum + Buffer.byteLength(body ?? ''), 0)
  if (bytes <= wireLimits.requestBytes) return rows
  throw new StoreError('quota_exceeded', `At most ${wireLimits.requestBytes} bytes may be written at once.`)
}

/** The data of one generation of a space, as a thread has it open. */
export interface OpenedData extends SpacePorts {
  snapshots: OpenSnapshots
  /** The last version, from now on `above` at least. */
  versions(above: number): Promise<number>
  /** In one transaction. */
  putPairs(pairs: readonly StoredPair[]): Promise<void>
  /** The bytes that count against the quota. */
  usedBytes(): Promise<number>
  /** Deletes a page of what has expired or was dropped. Returns whether there is more. `nowMs` is Unix milliseconds. */
  tidy(nowMs: number): Promise<boolean>
  close(): Promise<void>
}

/** The snapshots of one space. The front counts them and ends them. */
export interface OpenSnapshots {
  /** `nowMs`, Unix milliseconds, decides which pairs have expired, where the store has no clock. */
  begin(snapshot: number, nowMs: number): Promise<void>
  /** @throws {StoreError} `store_unavailable` for one that has ended */
  read(snapshot: number, read: SnapshotRead): Promise<unknown>
  end(snapshot: number): Promise<void>
  close(): Promise<void>
}
