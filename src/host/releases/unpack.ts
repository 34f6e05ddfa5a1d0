import { createHash } from 'node:crypto'
import { type FileHandle, mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { AuthError } from '../../errors.js'
import {
  isCommitHash,
  pathCollision,
  pathFault,
  type ReleaseCommit,
  type ReleaseFile,
  type ReleaseLimits,
  type ReleaseManifest,
  readManifest,
  releasePaths,
  releaseSizes,
} from '../../model/release.js'
import {
  type Archive,
  type ArchiveEntry,
  type ArchiveRule,
  entryOverheadBytes,
  hashed,
  quoted,
  readEntries,
} from '../archives/entries.js'
import { hasCode } from '../has-code.js'
import { syncFolder } from '../sync-folder.js'

/** The folder of a release that has no number yet. */
export type DraftName = `draft-${string}`

/** Where a release goes. */
interface ReleasePlace {
  /** The folder of all releases of the space. It exists. */
  folder: string
  /** A number that was never used in this space, or the name of a draft. */
  number: number | DraftName
  /** A group that may read the release: the one of its space, where children have users of their own. */
  group?: number
}

/** Longest `release.json`. */
const longestManifestBytes = 4 * 1024 * 1024

/**
 * Unpacks an archive into the folder `<number>`. The folder appears whole, written to disk, or not at all: until its last step
 * everything is in `<number>.part`, which `sweepReleases` removes after a crash.
 *
 * @throws {AuthError} `bundle_invalid`
 * @throws what reading the archive throws, and errors of the file system
 */
export async function unpackRelease(
  archive: Archive,
  place: ReleasePlace,
  limits: ReleaseLimits,
): Promise<ReleaseManifest> {
  const draft = await draftRelease(place, limits)
  try {
    await readEntries(archive, ruleFor(limits), draft.take)
    return await draft.finish()
  } catch (error) {
    await draft.discard()
    throw error
  }
}

/** A release that is being written, entry by entry. */
interface ReleaseDraft {
  /** `release.json` first. @throws {AuthError} `bundle_invalid` */
  take(entry: ArchiveEntry): Promise<void>
  /** Every listed file is there. @throws {AuthError} `bundle_invalid` */
  requireWhole(): ReleaseManifest
  /** The folder gets its name. @throws {AuthError} `bundle_invalid` */
  finish(): Promise<ReleaseManifest>
  discard(): Promise<void>
}

/** As `unpackRelease`, for entries that come from anywhere. */
export async function draftRelease(place: ReleasePlace, limits: ReleaseLimits): Promise<ReleaseDraft> {
  const target = join(place.folder, String(place.number))
  if (await exists(target)) throw new Error(`The release ${place.number} is there already.`)
  const draft = `${target}.part`
  const discard = () => rm(draft, { recursive: true, force: true })
  await discard()
  const files = createReleaseFolder(draft, place.group ?? null)
  await files.folder(draft)
  const missing = new Map<string, ReleaseFile>()
  let manifest: ReleaseManifest | null = null

  function requireWhole(): ReleaseManifest {
    const [lost] = missing.keys()
    if (!manifest) throw bundleInvalid('The archive is empty.', deployAgain)
    if (lost !== undefined) throw bundleInvalid(`The archive has no ${quoted(lost)}.`, deployAgain)
    return manifest
  }

  return {
    discard,
    requireWhole,
    async take(entry) {
      const { path } = entry
      if (!entry.isFile) throw bundleInvalid(`${quoted(path)} is no plain file.`, 'Deploy without links and devices.')
      if (!manifest) {
        const text = await readManifestEntry(entry)
        manifest = judgeManifest(text, limits)
        for (const file of manifest.files) missing.set(file.path, file)
        await files.write(join(draft, releasePaths.manifest), [Buffer.from(text)])
        return
      }
      const file = missing.get(path)
      if (!file) throw bundleInvalid(`${quoted(path)} is not listed, or is there twice.`, deployAgain)
      missing.delete(path)
      await writeListed(files, join(draft, file.path), file, entry)
    },
    async finish() {
      const whole = requireWhole()
      await files.sync()
      await rename(draft, target)
      await syncFolder(place.folder)
      return whole
    },
  }
}

/** Bytes of a release of the largest size, with the headers of its entries. */
export function largestRelease({ code, assets, files }: ReleaseLimits): number {
  return code + assets + longestManifestBytes + (files + 16) * entryOverheadBytes
}

function ruleFor(limits: ReleaseLimits): ArchiveRule {
  return {
    mostBytes: largestRelease(limits),
    tooLarge: () => bundleInvalid('The archive is larger than a release may be.', 'Deploy fewer or smaller files.'),
    damaged: (cause) => bundleInvalid('The archive is cut off or damaged.', deployAgain, cause),
  }
}

async function readManifestEntry({ path, size, bytes }: ArchiveEntry): Promise<string> {
  if (path !== releasePaths.manifest) {
    throw bundleInvalid(`The archive begins with ${quoted(path)}, not with ${releasePaths.manifest}.`, deployAgain)
  }
  if (size > longestManifestBytes) throw bundleInvalid(`${releasePaths.manifest} is too long.`, deployAgain)
  const chunks: Uint8Array[] = []
  for await (const chunk of bytes) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

async function writeListed(files: ReleaseFolder, path: string, file: ReleaseFile, entry: ArchiveEntry): Promise<void> {
  const changed = () => bundleInvalid(`${quoted(file.path)} differs from its digest.`, deployAgain)
  if (entry.size !== file.bytes) throw changed()
  const hash = createHash('sha256')
  await files.write(path, hashed(entry.bytes, hash))
  if (hash.digest('hex') !== file.sha256) throw changed()
}

interface ReleaseFolder {
  folder(path: string): Promise<void>
  write(path: string, chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void>
  /** Writes the entries of all folders to disk; files are synced as they are written. */
  sync(): Promise<void>
}

function createReleaseFolder(root: string, group: number | null): ReleaseFolder {
  const folders = new Set<string>()

  async function own(file: FileHandle, mode: number): Promise<void> {
    if (group === null) return
    await file.chown(-1, group)
    await file.chmod(mode)
  }

  async function folder(path: string): Promise<void> {
    if (folders.has(path)) return
    if (path !== root) await folder(dirname(path))
    await mkdir(path, 0o700)
    folders.add(path)
    const handle = await open(path, 'r')
    await own(handle, 0o750).finally(() => handle.close())
  }

  return {
    folder,
    async write(path, chunks) {
      await folder(dirname(path))
      const file = await open(path, 'wx', 0o600)
      try {
        for await (const chunk of chunks) await file.writeFile(chunk)
        await own(file, 0o640)
        await file.sync()
      } finally {
        await file.close()
      }
    },
    async sync() {
      for (const path of folders) await syncFolder(path)
    },
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path)
    return true
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false
    throw error
  }
}

/**
 * Reads `release.json` and checks everything that it lists, before anything is written.
 *
 * @throws {AuthError} `bundle_invalid`
 */
function judgeManifest(text: string, limits: ReleaseLimits): ReleaseManifest {
  const manifest = readManifest(text)
  if (!manifest) throw bundleInvalid(`${releasePaths.manifest} is damaged, or of another version.`, deployAgain)
  const { files, git } = manifest
  if (files.length > limits.files) {
    throw bundleInvalid(`The release has ${files.length} files, at most ${limits.files}.`, fewerAssets)
  }
  for (const file of files) judgeFile(file)
  if (git && !isCommit(git)) {
    throw bundleInvalid(`${releasePaths.manifest} names no commit of git.`, deployAgain)
  }
  for (const path of [releasePaths.code, releasePaths.map]) {
    if (!files.some((file) => file.path === path)) throw bundleInvalid(`The archive has no ${path}.`, deployAgain)
  }
  judgeCollisions(files)
  judgeSizes(files, limits)
  return manifest
}

const fewerAssets = 'Keep files that no request needs out of the project folder, or raise the limit of the host.'

function judgeFile({ path, bytes, sha256 }: ReleaseFile): void {
  const fault = pathFault(path)
  if (fault !== null) throw bundleInvalid(`The path ${quoted(path)} ${fault}.`, 'Rename the file, and deploy again.')
  if (!Number.isSafeInteger(bytes) || bytes < 0 || !/^[0-9a-f]{64}$/.test(sha256)) {
    throw bundleInvalid(`${quoted(path)} has no size or digest in ${releasePaths.manifest}.`, deployAgain)
  }
}

function judgeCollisions(files: readonly ReleaseFile[]): void {
  const collision = pathCollision(files.map(({ path }) => path))
  if (!collision) return
  const [first, second] = collision.map(quoted)
  throw bundleInvalid(`${first} and ${second} are the same path on some systems.`, 'Rename one of them.')
}

function judgeSizes(files: readonly ReleaseFile[], limits: ReleaseLimits): void {
  const { code, assets } = releaseSizes(files)
  if (code > limits.code) {
    const cure = 'Import less, or raise limits.code of the host.'
    throw bundleInvalid(`The bundle and its map have ${code} bytes, at most ${limits.code}.`, cure)
  }
  if (assets > limits.assets) {
    const [largest] = [...files].filter(isAsset).sort((one, other) => other.bytes - one.bytes)
    const fault = `The assets have ${assets} bytes, at most ${limits.assets}; the largest is ${quoted(largest?.path ?? '')}.`
    throw bundleInvalid(fault, fewerAssets)
  }
}

function isAsset({ path }: ReleaseFile): boolean {
  return path.startsWith(releasePaths.assets)
}

function isCommit({ hash, branch }: ReleaseCommit): boolean {
  return isCommitHash(hash) && (branch === null || /^[^\p{Cc}\p{Cf}\p{Cs}]{1,255}$/u.test(branch))
}

/** The error of a release archive that the host refuses: what is wrong, where, and what to do. */
function bundleInvalid(fault: string, cure: string, cause?: unknown): AuthError {
  return new AuthError('bundle_invalid', { detail: `${fault} ${cure}`, ...(cause !== undefined && { cause }) })
}

const deployAgain = 'Deploy again with the tool of this version: latchkey deploy'
