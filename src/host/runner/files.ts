import { createReadStream, type ReadStream } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { resolve, sep } from 'node:path'
import { rejecting } from './not-supported.js'

interface FileOptions {
  /** The files of the release. Without it the platform means its file store, which this host does not have. */
  source?: unknown
}

/** `_coho_fs` of the platform, by which codehooks-js reads files. */
export interface Files {
  readFile(path: string, options?: FileOptions): Promise<string>
  /** Rejects before anything is streamed when there is no such file. */
  getFileStream(path: string, options?: FileOptions): Promise<ReadStream>
  saveFile(): Promise<never>
  deleteFile(): Promise<never>
  list(): Promise<never>
}

/** @param assets the folder of the release's files; an absolute path */
export function createFiles(assets: string): Files {
  return {
    readFile: (path, options) =>
      options?.source === true ? findFile(assets, path).then((file) => readFile(file, 'utf8')) : absentStore(),
    getFileStream: async (path, options) =>
      options?.source === true ? createReadStream(await findFile(assets, path)) : absentStore(),
    saveFile: rejecting('filestore.saveFile'),
    deleteFile: rejecting('filestore.deleteFile'),
    list: rejecting('filestore.list'),
  }
}

const absentStore = rejecting('filestore without source: true')

async function findFile(assets: string, path: string): Promise<string> {
  const file = resolve(assets, `./${String(path)}`)
  const found = file.startsWith(assets + sep) && !file.includes('\0') ? await stat(file).catch(() => null) : null
  if (found?.isFile()) return file
  throw Object.assign(new Error('There is no such file.'), { code: 'ENOENT' })
}
