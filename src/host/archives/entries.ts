import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import type { Extract } from 'tar-stream'
import { AuthError } from '../../errors.js'
import { readLines } from '../../http/streams/read-lines.js'
import { oneLine } from '../../lib/one-line.js'

/** The bytes of an archive as they arrive. */
export type Archive = AsyncIterable<Uint8Array>

/** One entry of an archive. */
export interface ArchiveEntry {
  path: string
  /** True for a plain file; false for a folder, a link or a device. */
  isFile: boolean
  size: number
  /** The content, to be read once. */
  bytes: AsyncIterable<Uint8Array>
}

/** What an archive may be. */
export interface ArchiveRule {
  /** Of the archive, and of what it unpacks to with the headers of its entries. */
  mostBytes: number
  tooLarge(): AuthError
  /** For bytes that are no archive. */
  damaged(cause?: unknown): AuthError
}

/** Headers and padding of one entry, with a long path. */
export const entryOverheadBytes = 4 * 1024

/** What an archive may unpack to beyond the entries that were begun: buffers, long headers, and the padding at its end. */
const betweenEntriesBytes = 16 * 1024 * 1024

/**
 * Calls back for each entry of an archive, one after another. The entry's content must be read before the promise settles.
 *
 * @throws {AuthError} those of the rule
 * @throws errors of `take`, and errors of reading the archive, as when an upload breaks off
 */
export async function readEntries(
  archive: Archive,
  rule: ArchiveRule,
  take: (entry: ArchiveEntry) => Promise<void>,
): Promise<void> {
  const { extract } = await import('tar-stream')
  const source = new Upload(archive)
  const entries = extract()
  const room = { bytes: betweenEntriesBytes }
  const [flowed, taken] = await Promise.allSettled([
    pipeline(Readable.from(atMost(source, rule)), createGunzip(), (bytes) => atMost(bytes, rule, room), entries),
    takeEach(entries, rule, (entry) => {
      room.bytes += entry.size + entryOverheadBytes
      return take(entry)
    }),
  ])
  const reasons = [taken, flowed].flatMap((each) => (each.status === 'rejected' ? [each.reason] : []))
  if (reasons.length > 0) throw firstCause(reasons, source, rule)
}

/** Keeps the error of an upload that breaks off: streams replace it. */
class Upload {
  failure: { error: unknown } | null = null
  readonly #archive: Archive

  constructor(archive: Archive) {
    this.#archive = archive
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      yield* this.#archive
    } catch (error) {
      this.failure = { error }
      throw error
    }
  }
}

/** @param room grows with each entry, so that an archive of zeros or of headers alone ends early */
async function* atMost(
  bytes: AsyncIterable<Uint8Array>,
  rule: ArchiveRule,
  room = { bytes: Number.POSITIVE_INFINITY },
): AsyncGenerator<Uint8Array> {
  let count = 0
  for await (const chunk of bytes) {
    count += chunk.length
    if (count > rule.mostBytes) throw rule.tooLarge()
    if (count > room.bytes) throw rule.damaged()
    yield chunk
  }
}

/** Reads through, and leaves the digest in `hash`. */
export async function* hashed(
  bytes: AsyncIterable<Uint8Array>,
  hash: { update(chunk: Uint8Array): unknown },
): AsyncGenerator<Uint8Array> {
  for await (const chunk of bytes) {
    hash.update(chunk)
    yield chunk
  }
}

/** The whole entry as text; null when it is longer than that, or no UTF-8. */
export async function textOf({ size, bytes }: ArchiveEntry, mostBytes: number): Promise<string | null> {
  if (size > mostBytes) return null
  const chunks: Uint8Array[] = []
  for await (const chunk of bytes) chunks.push(chunk)
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(chunks))
  } catch {
    return null
  }
}

async function takeEach(
  entries: Extract,
  rule: ArchiveRule,
  take: (entry: ArchiveEntry) => Promise<void>,
): Promise<void> {
  for await (const entry of entries) {
    const { name, type, size } = entry.header
    // tar-stream gives null for a size that it cannot read, and the entry would then never end.
    if (!Number.isSafeInteger(size)) throw rule.damaged()
    await take({ path: name, isFile: type === 'file', size, bytes: bytesOf(entry) })
  }
}

async function* bytesOf(entry: AsyncIterable<unknown>): AsyncGenerator<Uint8Array> {
  for await (const chunk of entry) {
    if (chunk instanceof Uint8Array) yield chunk
  }
}

/** One failure ends all streams, each with an error of its own. */
function firstCause(reasons: readonly unknown[], { failure }: Upload, rule: ArchiveRule): unknown {
  const refusal = reasons.find((reason) => reason instanceof AuthError)
  if (refusal) return refusal
  if (failure) return failure.error
  // An error of the file system.
  const fault = reasons.find((reason) => reason instanceof Error && 'syscall' in reason)
  return fault ?? rule.damaged(reasons[0])
}

/** A line of an entry. `bytes`: without its end. */
export interface ArchivedLine {
  path: string
  /** From 1 on. */
  number: number
  text: string
  bytes: number
}

/** @throws {AuthError} `archive_invalid` for a line that is too long, or no UTF-8 */
export async function* linesOf({ path, bytes }: ArchiveEntry, longestBytes: number): AsyncGenerator<ArchivedLine> {
  let number = 0
  for await (const line of readLines(bytes, longestBytes)) {
    number += 1
    if ('fault' in line) throw archiveInvalid(`Line ${number} of ${quoted(path)} is too long, or no UTF-8.`)
    yield { path, number, text: line.text, bytes: Buffer.byteLength(line.text) }
  }
}

/** The error of a backup that cannot be restored: what is wrong, where, and what to do. */
export function archiveInvalid(fault: string, cure: string = takeAnother, cause?: unknown): AuthError {
  return new AuthError('archive_invalid', { detail: `${fault} ${cure}`, ...(cause !== undefined && { cause }) })
}

const takeAnother = 'Fetch the archive again, or take another one.'

/** A path of the archive as it may stand in a sentence: on one line, cut at 100 characters. */
export function quoted(path: string): string {
  const line = oneLine(path)
  return `"${line.length > 100 ? `${line.slice(0, 100)}…` : line}"`
}
