import { fieldsIn, listIn, nullOr, numberIn, readFields, textIn } from '../lib/json-fields.js'

/**
 * A release as an archive (`tar.gz`): `release.json` first, then the files that it lists. A release is one deployed bundle of
 * a space.
 */
export const releasePaths = {
  manifest: 'release.json',
  code: 'bundle.mjs',
  map: 'bundle.mjs.map',
  /** What `app.static` and `filestore` read, by its path in the project. */
  assets: 'assets/',
} as const

/** `release.json`. */
export interface ReleaseManifest {
  /** The version of the tool that made the archive. */
  tool: string
  /** Null outside a git repository. */
  git: ReleaseCommit | null
  files: readonly ReleaseFile[]
}

export interface ReleaseCommit {
  /** Hexadecimal. */
  hash: string
  /** Null when no branch is checked out. */
  branch: string | null
}

export interface ReleaseFile {
  path: string
  bytes: number
  /** Hexadecimal. */
  sha256: string
}

/** Bytes, but for `files`. */
export interface ReleaseLimits {
  /** Of `bundle.mjs` and its source map together. */
  code: number
  /** Of all assets together. */
  assets: number
  /** How many files a release has. */
  files: number
}

const mebibyte = 1024 * 1024
export const defaultReleaseLimits: ReleaseLimits = { code: 16 * mebibyte, assets: 64 * mebibyte, files: 10_000 }

/** Of one path, in UTF-8: what file systems allow for a name. */
const longestPathBytes = 255
const format = 1

/** `release.json` as text: one line a file. */
export function writeManifest({ tool, git, files }: ReleaseManifest): string {
  return `${JSON.stringify({ format, tool, git, files }, null, 1)}\n`
}

/** Null when the text is no manifest of this format. Its paths and sizes are not judged here. */
export function readManifest(text: string): ReleaseManifest | null {
  const read = readFields(text, (fields) => ({
    format: numberIn(fields, 'format'),
    tool: textIn(fields, 'tool'),
    git: nullOr(fields, 'git', (all, name) => {
      const git = fieldsIn(all, name)
      return { hash: textIn(git, 'hash'), branch: nullOr(git, 'branch', textIn) }
    }),
    files: listIn(fields, 'files', (file) => ({
      path: textIn(file, 'path'),
      bytes: numberIn(file, 'bytes'),
      sha256: textIn(file, 'sha256'),
    })),
  }))
  if (read?.format !== format) return null
  const { tool, git, files } = read
  return { tool, git, files }
}

/** What is wrong with a path of an archive, as the end of a sentence; null when nothing is. */
export function pathFault(path: string): string | null {
  if (path === releasePaths.code || path === releasePaths.map) return null
  if (Buffer.byteLength(path) > longestPathBytes) return `is longer than ${longestPathBytes} bytes`
  if (/\p{Cc}|\p{Cs}/u.test(path)) return 'holds a control character'
  if (path.includes('\\')) return 'holds a backslash'
  if (!path.startsWith(releasePaths.assets)) return 'is neither the bundle nor an asset'
  const segments = path.split('/')
  if (segments.includes('')) return 'has an empty part'
  if (segments.includes('.') || segments.includes('..')) return 'has a part of dots'
  return null
}

/**
 * Two paths that some file system takes for one, or of which one is a folder of the other; null when there are none. Upper
 * and lower case, and the Unicode forms of a letter, count as the same.
 */
export function pathCollision(paths: readonly string[]): readonly [string, string] | null {
  const known = new Map<string, { spelling: string; isFile: boolean }>()
  for (const path of paths) {
    for (const spelling of foldersAndFile(path)) {
      const isFile = spelling === path
      const folded = spelling.normalize('NFC').toLowerCase().normalize('NFC')
      const before = known.get(folded)
      if (before && (before.spelling !== spelling || before.isFile || isFile)) return [before.spelling, path]
      known.set(folded, { spelling, isFile })
    }
  }
  return null
}

/** `a`, `a/b` and `a/b/c` of `a/b/c`. */
function foldersAndFile(path: string): string[] {
  const parts = path.split('/')
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'))
}

/** Bytes of code and of assets. */
export function releaseSizes(files: readonly ReleaseFile[]): { code: number; assets: number } {
  const sum = (of: readonly ReleaseFile[]) => of.reduce((total, { bytes }) => total + bytes, 0)
  const isAsset = ({ path }: ReleaseFile) => path.startsWith(releasePaths.assets)
  return { code: sum(files.filter((file) => !isAsset(file))), assets: sum(files.filter(isAsset)) }
}
