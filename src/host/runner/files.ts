import { createReadStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { Readable } from 'node:stream'
import { isPlain } from '../documents/values.js'

interface FileOptions {
  /** The files of the release. Without it the platform means its file store, which this host does not have. */
  source?: unknown
}

/** `_coho_fs` of the platform, by which codehooks-js reads files. */
interface Files {
  readFile(path: string, options?: FileOptions): Promise<string>
  /** Rejects before anything is streamed when there is no such file. */
  getFileStream(path: string, options?: FileOptions): Promise<Readable>
  saveFile(): Promise<never>
  deleteFile(): Promise<never>
  list(): Promise<never>
}

/** One file of the release. */
export interface SourceFile {
  /** Absolute path. */
  path: string
  bytes: number
  /** Hexadecimal. */
  sha256: string
}

/** Where a piece of an answer comes from. */
interface Origin {
  file: SourceFile
  /** The first byte of the piece in the file. */
  at: number
}

export interface ReleaseFiles {
  files: Files
  /** The place of a chunk that a stream of `files` gave; null for all other values. */
  originOf(chunk: unknown): Origin | null
}

/**
 * The files that `release.json` lists, and no others. A name is compared as it is written there, so a file has one name
 * whatever the file system takes for the same.
 *
 * @param release absolute path of the unpacked release
 */
export function createFiles(release: string): ReleaseFiles {
  const origins = new WeakMap<object, Origin>()
  let listed: Promise<ReadonlyMap<string, SourceFile>> | null = null

  async function find(path: string, options: FileOptions | undefined): Promise<SourceFile> {
    if (options?.source !== true) throw notSupported('filestore without source: true')
    listed ??= readListed(release).catch((cause: unknown) => {
      listed = null
      // codehooks-js shows clients the message, so it names no path.
      throw new Error('The files of the release cannot be read.', { cause })
    })
    const found = (await listed).get(posix.normalize(`/${String(path)}`))
    if (found) return found
    throw Object.assign(new Error('There is no such file.'), { code: 'ENOENT' })
  }

  return {
    files: {
      readFile: async (path, options) => readFile((await find(path, options)).path, 'utf8'),
      getFileStream: async (path, options) =>
        Readable.from(readChunks(await find(path, options), origins), { objectMode: false }),
      saveFile: rejecting('filestore.saveFile'),
      deleteFile: rejecting('filestore.deleteFile'),
      list: rejecting('filestore.list'),
    },
    originOf: (chunk) => (typeof chunk === 'object' && chunk !== null ? (origins.get(chunk) ?? null) : null),
  }
}

/** Notes where each chunk comes from. */
async function* readChunks(file: SourceFile, origins: WeakMap<object, Origin>): AsyncGenerator<Buffer> {
  let at = 0
  for await (const chunk of createReadStream(file.path)) {
    if (!Buffer.isBuffer(chunk)) return
    origins.set(chunk, { file, at })
    at += chunk.length
    yield chunk
  }
}

/** By path in the project, with a slash in front. The host has checked the list and the files when it unpacked them. */
async function readListed(release: string): Promise<ReadonlyMap<string, SourceFile>> {
  const manifest: unknown = JSON.parse(await readFile(join(release, 'release.json'), 'utf8'))
  const files = isPlain(manifest) && Array.isArray(manifest.files) ? manifest.files : []
  const listed = new Map<string, SourceFile>()
  for (const { path, bytes, sha256 } of files) {
    const [folder, ...names] = String(path).split('/')
    if (folder !== 'assets') continue
    listed.set(`/${names.join('/')}`, { path: join(release, path), bytes: Number(bytes), sha256: String(sha256) })
  }
  return listed
}

/** The error of a call that this host does not support. Applications read its `code`, `not_supported`. */
export function notSupported(call: string): Error {
  return Object.assign(new Error(`${call} is not supported by this host.`), { code: 'not_supported' })
}

/** An unsupported call. It rejects, so that an application can go on without it. */
export function rejecting(call: string): () => Promise<never> {
  return () => Promise.reject(notSupported(call))
}
