import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import type { Extract } from 'tar-stream'
import { AuthError } from '../../errors.js'
import type { ReleaseLimits } from '../../model/release.js'
import { bundleInvalid, deployAgain } from './bundle-invalid.js'

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

/** Longest `release.json`. */
export const longestManifestBytes = 4 * 1024 * 1024
/** Headers and padding of one entry, with a long path. */
const entryOverheadBytes = 4 * 1024

/**
 * Calls back for each entry of an archive, one after another. The entry's content must be read before the promise settles.
 * Neither the archive nor what it unpacks to may be larger than a release of the largest size.
 *
 * @throws {AuthError} `bundle_invalid`, for bytes that are not an archive
 * @throws errors of `take`, and errors of reading the archive, as when an upload breaks off
 */
export async function readEntries(
  archive: Archive,
  limits: ReleaseLimits,
  take: (entry: ArchiveEntry) => Promise<void>,
): Promise<void> {
  const { extract } = await import('tar-stream')
  const mostBytes = limits.code + limits.assets + longestManifestBytes + (limits.files + 16) * entryOverheadBytes
  const source = new Upload(archive)
  const entries = extract()
  const [flowed, taken] = await Promise.allSettled([
    pipeline(Readable.from(atMost(source, mostBytes)), createGunzip(), (bytes) => atMost(bytes, mostBytes), entries),
    takeEach(entries, take),
  ])
  const reasons = [taken, flowed].flatMap((each) => (each.status === 'rejected' ? [each.reason] : []))
  if (reasons.length > 0) throw firstCause(reasons, source)
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

async function* atMost(bytes: AsyncIterable<Uint8Array>, most: number): AsyncGenerator<Uint8Array> {
  let count = 0
  for await (const chunk of bytes) {
    count += chunk.length
    if (count > most)
      throw bundleInvalid('The archive is larger than a release may be.', 'Deploy fewer or smaller files.')
    yield chunk
  }
}

async function takeEach(entries: Extract, take: (entry: ArchiveEntry) => Promise<void>): Promise<void> {
  for await (const entry of entries) {
    const { name, type, size } = entry.header
    // tar-stream gives null for a size that it cannot read, and the entry would then never end.
    if (!Number.isSafeInteger(size)) throw damaged()
    await take({ path: name, isFile: type === 'file', size, bytes: bytesOf(entry) })
  }
}

async function* bytesOf(entry: AsyncIterable<unknown>): AsyncGenerator<Uint8Array> {
  for await (const chunk of entry) {
    if (chunk instanceof Uint8Array) yield chunk
  }
}

/** One failure ends all streams, each with an error of its own. */
function firstCause(reasons: readonly unknown[], { failure }: Upload): unknown {
  const refusal = reasons.find((reason) => reason instanceof AuthError)
  if (refusal) return refusal
  if (failure) return failure.error
  // An error of the file system.
  const fault = reasons.find((reason) => reason instanceof Error && 'syscall' in reason)
  return fault ?? damaged(reasons[0])
}

function damaged(cause?: unknown): AuthError {
  return bundleInvalid('The archive is cut off or damaged.', deployAgain, cause)
}
