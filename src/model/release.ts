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
  /** null outside a git repository. */
  git: ReleaseCommit | null
  files: readonly ReleaseFile[]
}

export interface ReleaseCommit {
  /** Hexadecimal. */
  hash: string
  /** null when no branch is checked out. */
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
const mostFolders = 32
const format = 1

/** `release.json` as text: one line a file. */
export function writeManifest({ tool, git, files }: ReleaseManifest): string {
  return `${JSON.stringify({ format, tool, git, files }, null, 1)}\n`
}

/** null for a text that is no manifest of this format. Paths and sizes are checked elsewhere. */
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

/** Whether a text is the hash of a commit, SHA-1 or SHA-256. */
export function isCommitHash(text: string): boolean {
  return /^[0-9a-f]{40}([0-9a-f]{24})?$/.test(text)
}

/** What is wrong with a path of an archive, as the end of a sentence. null for a path that is allowed. */
export function pathFault(path: string): string | null {
  if (path === releasePaths.code || path === releasePaths.map) return null
  if (Buffer.byteLength(path) > longestPathBytes) return `is longer than ${longestPathBytes} bytes`
  if (/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(path)) return 'holds a control character'
  // It would show another name than it has (Unicode Technical Report 36 §2.5).
  if (/\p{Bidi_Control}/u.test(path)) return 'holds a character that turns the direction of writing'
  if (path.includes('\\')) return 'holds a backslash'
  if (!path.startsWith(releasePaths.assets)) return 'is neither the bundle nor an asset'
  const segments = path.split('/')
  if (segments.length > mostFolders + 1) return `has more than ${mostFolders} folders`
  if (segments.includes('')) return 'has an empty part'
  if (segments.includes('.') || segments.includes('..')) return 'has a part of dots'
  if (segments.some((segment) => /[.\s]$/.test(segment))) return 'has a part that ends in a dot or a blank'
  return null
}

/**
 * The first two paths that some file system takes for one, or of which one is a folder of the other. null when all differ.
 * Upper and lower case, and the Unicode forms of a letter, count as the same, and invisible characters do not count.
 */
export function pathCollision(paths: readonly string[]): readonly [string, string] | null {
  const known: KnownNames = new Map()
  for (const path of paths) {
    const other = knownSpelling(known, path)
    if (other !== null) return [other, path]
  }
  return null
}

/** Folders and files by the number of their folder and their folded name. */
type KnownNames = Map<string, { number: number; name: string; isFile: boolean }>

/** Adds a path, or returns the path of a file or folder that it collides with. */
function knownSpelling(known: KnownNames, path: string): string | null {
  const names = path.split('/')
  const visible = path.replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '')
  const folded = visible.normalize('NFC').toLowerCase().normalize('NFC').split('/')
  let folder = 0
  for (const [depth, name] of names.entries()) {
    const isFile = depth === names.length - 1
    const key = `${folder}/${folded[depth]}`
    const before = known.get(key)
    if (before && (before.name !== name || before.isFile || isFile)) {
      return [...names.slice(0, depth), before.name].join('/')
    }
    folder = before?.number ?? known.size + 1
    known.set(key, { number: folder, name, isFile })
  }
  return null
}

/** Bytes of code and of assets. */
export function releaseSizes(files: readonly ReleaseFile[]): { code: number; assets: number } {
  const sum = (of: readonly ReleaseFile[]) => of.reduce((total, { bytes }) => total + bytes, 0)
  const isAsset = ({ path }: ReleaseFile) => path.startsWith(releasePaths.assets)
  return { code: sum(files.filter((file) => !isAsset(file))), assets: sum(files.filter(isAsset)) }
}
