import { createHash, type Hash } from 'node:crypto'
import { Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import type { Pack } from 'tar-stream'
import type { ArchivedEntry } from './backup-manifest.js'

/** Writes the entries of an archive, one after another. */
export interface ArchiveWriter {
  /** The chunks must have that many bytes. Resolves when they are taken. */
  entry(path: string, bytes: number, chunks: Chunks): Promise<void>
  text(path: string, text: string): Promise<void>
  /** Those so far. */
  written(): readonly ArchivedEntry[]
}

type Chunks = AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>

/** The archive as a whole. */
export interface PackedArchive {
  bytes: number
  /** Hexadecimal. */
  sha256: string
}

/**
 * A tar.gz of what `write` writes, at the pace of its reader and in little memory. An error of `write` ends it. When the reader
 * leaves, `write` gets an error.
 */
export async function* packEntries(
  write: (archive: ArchiveWriter) => Promise<void>,
  onPacked: (archive: PackedArchive) => Promise<void>,
): AsyncGenerator<Uint8Array> {
  const { pack } = await import('tar-stream')
  const tar = pack()
  const gzip = createGzip()
  const source = Readable.from(tar)
  source.on('error', (error) => void gzip.destroy(error)).pipe(gzip)
  const writing = write(writerOf(tar)).then(
    () => tar.finalize(),
    (error: unknown) => tar.destroy(error instanceof Error ? error : new Error('It was not written.')),
  )
  const hash = createHash('sha256')
  let bytes = 0
  try {
    for await (const chunk of gzip) {
      if (!(chunk instanceof Uint8Array)) continue
      bytes += chunk.length
      hash.update(chunk)
      yield chunk
    }
    await writing
    await onPacked({ bytes, sha256: hash.digest('hex') })
  } finally {
    tar.destroy()
    gzip.destroy()
  }
}

function writerOf(tar: Pack): ArchiveWriter {
  const written: ArchivedEntry[] = []

  async function entry(path: string, bytes: number, chunks: Chunks): Promise<void> {
    const hash = createHash('sha256')
    await writeEntry(tar, { name: path, size: bytes, mode: 0o600, mtime: new Date(0) }, hashed(chunks, hash))
    written.push({ path, bytes, sha256: hash.digest('hex') })
  }

  return {
    entry,
    text: (path, text) => entry(path, Buffer.byteLength(text), [text]),
    written: () => written,
  }
}

async function* hashed(chunks: Chunks, hash: Hash): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    const bytes = Buffer.from(chunk)
    hash.update(bytes)
    yield bytes
  }
}

async function writeEntry(
  tar: Pack,
  header: { name: string; size: number; mode: number; mtime: Date },
  chunks: AsyncIterable<Buffer>,
): Promise<void> {
  let fail = (_error: unknown) => {}
  let finish = () => {}
  const over = new Promise<void>((resolve, reject) => {
    finish = resolve
    fail = reject
  })
  over.catch(() => {})
  const sink = tar.entry(header, (error) => (error ? fail(error) : finish()))
  sink.on('error', fail)
  // The reader has left.
  sink.on('close', () => fail(new Error('The archive was not read to its end.')))
  for await (const chunk of chunks) {
    if (sink.write(chunk)) continue
    await Promise.race([over, new Promise<void>((resolve) => sink.once('drain', () => resolve()))])
  }
  sink.end(null)
  await over
}
