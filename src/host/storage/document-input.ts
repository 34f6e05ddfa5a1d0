import { isWithinBounds } from '../documents/bounded-json.js'
import { requireId } from '../documents/names.js'
import { queryInvalid, StoreError } from '../documents/store-error.js'
import { isPlain } from '../documents/values.js'
import { wireLimits } from '../documents/wire.js'
import type { VersionedChange } from '../ports.js'
import { misshapen } from './scan-input.js'

export interface CallBounds {
  /** Of a document's text, or a pair's value, in UTF-8. */
  documentBytes: number
  /** Levels of a document, which is itself level 0. */
  depth: number
}

const maxRows = 1_000

/** @throws {StoreError} `query_invalid` */
export function requireText(value: unknown): string {
  if (typeof value === 'string') return value
  throw misshapen()
}

/** @throws {StoreError} `query_invalid` */
export function requireFinite(value: unknown): number {
  if (typeof value === 'number' && Number.isFinite(value)) return value
  throw misshapen()
}

/** @throws {StoreError} `quota_exceeded` */
export function requireSize(text: string, { documentBytes }: CallBounds): string {
  // No UTF-8 text has fewer bytes than characters.
  if (text.length <= documentBytes && Buffer.byteLength(text) <= documentBytes) return text
  throw new StoreError('quota_exceeded', `A document or value may have ${documentBytes} bytes at most.`)
}

/**
 * The database checks that it is JSON.
 *
 * @throws {StoreError} `query_invalid`, `quota_exceeded`
 */
export function requireBody(value: unknown, bounds: CallBounds): string {
  const body = requireSize(requireText(value), bounds)
  if (!body.startsWith('{')) throw queryInvalid('A document must be a JSON object.')
  const { depth } = bounds
  if (isWithinBounds(body, { depth: depth + 1, parts: Number.POSITIVE_INFINITY })) return body
  throw queryInvalid(`The document nests deeper than ${depth} levels.`)
}

/** @throws {StoreError} `query_invalid`, `quota_exceeded` */
export function requireRows(value: unknown, bounds: CallBounds): { id: string; body: string }[] {
  return requireMany(value, ({ id, body }) => ({ id: requireId(id), body: requireBody(body, bounds) }))
}

/** @throws {StoreError} `query_invalid`, `quota_exceeded` */
export function requireChanges(value: unknown, bounds: CallBounds): VersionedChange[] {
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
