import { requireCollection, requireField, requireId } from '../documents/names.js'
import { queryInvalid } from '../documents/store-error.js'
import { isPlain } from '../documents/values.js'
import type { WireCall, WirePort, wireVerbs } from '../documents/wire.js'
import type { Documents, IfVersion, Indexes, KeyName, KeyValues, ScanOptions, StoredPair } from '../ports.js'
import {
  type CallBounds,
  requireBody,
  requireChanges,
  requireFinite,
  requireRows,
  requireSize,
  requireText,
} from './document-input.js'
import type { ThreadRequest } from './messages.js'
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
