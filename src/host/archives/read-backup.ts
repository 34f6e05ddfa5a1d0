import { createHash } from 'node:crypto'
import { isWithinBounds } from '../documents/bounded-json.js'
import {
  type ArchivedEntry,
  type BackupCollection,
  type BackupIndex,
  type BackupManifest,
  type BackupSettings,
  backupPaths,
  type Checksums,
  readBackupIndexes,
  readBackupManifest,
  readBackupSettings,
  readChecksums,
} from './backup-manifest.js'
import {
  type Archive,
  type ArchiveEntry,
  type ArchiveRule,
  archiveInvalid,
  hashed,
  quoted,
  readEntries,
  textOf,
} from './entries.js'

/** What takes the parts of a backup, in the order of the archive. Each must read its entry to the end. */
export interface BackupParts {
  /** Judges the manifest before anything else is read. */
  begin(manifest: BackupManifest): Promise<void>
  documents(collection: BackupCollection, entry: ArchiveEntry): Promise<void>
  pairs(entry: ArchiveEntry): Promise<void>
  /** `path` is that within the release. */
  release(entry: ArchiveEntry): Promise<void>
}

/** A backup whose entries are all there, in order, and have the listed checksums. Whether the list is signed is still open. */
export interface ReadBackup {
  manifest: BackupManifest
  indexes: readonly BackupIndex[]
  settings: BackupSettings
  checksums: Checksums
}

/**
 * What a text may have: bytes, and parts as `isWithinBounds` counts them, because many small values take a multiple of their size
 * in memory. A space may have 1,000 collections with 64 indexes each; the settings hold 100 variables of 32 KiB, sealed, and tens of
 * thousands of tokens.
 */
const bounds = {
  manifest: { bytes: 2 * 1024 * 1024, parts: 200_000 },
  indexes: { bytes: 16 * 1024 * 1024, parts: 500_000 },
  settings: { bytes: 16 * 1024 * 1024, parts: 1_000_000 },
  checksums: { bytes: 8 * 1024 * 1024, parts: 200_000 },
} as const

const deepest = 8

/** Whether a text of a backup can be read again. */
export function isReadable(part: keyof typeof bounds, text: string): boolean {
  const { bytes, parts } = bounds[part]
  return Buffer.byteLength(text) <= bytes && isWithinBounds(text, { depth: deepest, parts })
}

/**
 * Reads a backup as it arrives. The entries must stand in the order of the manifest, and `checksums.json` must list all of them.
 *
 * @throws {AuthError} `archive_invalid`, those of the rule and of `parts`
 * @throws what reading the archive throws
 */
export async function readBackup(archive: Archive, rule: ArchiveRule, parts: BackupParts): Promise<ReadBackup> {
  const reading = new BackupReading(parts)
  await readEntries(archive, rule, (entry) => reading.take(entry))
  return reading.finish()
}

/** An entry that comes next, or a folder of them. */
interface Step {
  path: string
  isFolder: boolean
  take(entry: ArchiveEntry): Promise<void>
}

class BackupReading {
  private readonly parts: BackupParts
  private readonly found: ArchivedEntry[] = []
  private readonly read: Partial<ReadBackup> = {}
  private steps: Step[] = [step(backupPaths.manifest, (entry) => this.takeManifest(entry))]
  /** Of the folder that is being read, whose entries may end with each entry. */
  private isInFolder = false

  constructor(parts: BackupParts) {
    this.parts = parts
  }

  async take(entry: ArchiveEntry): Promise<void> {
    const { path, size } = entry
    const take = this.next(path)
    if (!entry.isFile) throw archiveInvalid(`${quoted(path)} is no plain file.`)
    const hash = createHash('sha256')
    await take({ ...entry, bytes: hashed(entry.bytes, hash) })
    this.found.push({ path, bytes: size, sha256: hash.digest('hex') })
  }

  finish(): ReadBackup {
    const [missing] = this.steps
    const { manifest, indexes, settings, checksums } = this.read
    if (missing) throw archiveInvalid(`The archive has no ${quoted(missing.path)}.`)
    if (!manifest || !indexes || !settings || !checksums) throw new TypeError('A part was not read.')
    return { manifest, indexes, settings, checksums }
  }

  private next(path: string): Step['take'] {
    const [next] = this.steps
    if (!next) throw archiveInvalid(`${quoted(path)} stands behind ${backupPaths.checksums}.`)
    if (next.isFolder && path.startsWith(next.path)) {
      this.isInFolder = true
      return next.take
    }
    if (next.isFolder && this.isInFolder) {
      this.isInFolder = false
      this.steps.shift()
      return this.next(path)
    }
    if (path !== next.path) throw archiveInvalid(`${quoted(path)} stands where ${quoted(next.path)} belongs.`)
    this.steps.shift()
    return next.take
  }

  private async takeManifest(entry: ArchiveEntry): Promise<void> {
    const manifest = parsed(entry.path, readBackupManifest(await requireText(entry, bounds.manifest)))
    await this.parts.begin(manifest)
    this.read.manifest = manifest
    const { documents, pairs, release } = this.parts
    const within = (folder: string) => (inside: ArchiveEntry) =>
      release({ ...inside, path: inside.path.slice(folder.length) })
    this.steps = [
      ...manifest.collections.map((collection, at) =>
        step(backupPaths.collection(at + 1), (each) => documents(collection, each)),
      ),
      step(backupPaths.indexes, async (each) => {
        this.read.indexes = parsed(each.path, readBackupIndexes(await requireText(each, bounds.indexes)))
      }),
      step(backupPaths.pairs, pairs),
      ...(manifest.release === null
        ? []
        : [{ path: backupPaths.release, isFolder: true, take: within(backupPaths.release) }]),
      step(backupPaths.settings, async (each) => {
        this.read.settings = parsed(each.path, readBackupSettings(await requireText(each, bounds.settings)))
      }),
      step(backupPaths.checksums, (each) => this.takeChecksums(each)),
    ]
  }

  private async takeChecksums(entry: ArchiveEntry): Promise<void> {
    const checksums = parsed(entry.path, readChecksums(await requireText(entry, bounds.checksums)))
    const { entries } = checksums
    for (const [at, { path, bytes, sha256 }] of this.found.entries()) {
      const listed = entries[at]
      if (listed?.path === path && listed.bytes === bytes && listed.sha256 === sha256) continue
      throw archiveInvalid(`${quoted(path)} differs from its checksum.`)
    }
    if (entries.length !== this.found.length) throw archiveInvalid(`${backupPaths.checksums} lists more than there is.`)
    this.read.checksums = checksums
  }
}

function step(path: string, take: Step['take']): Step {
  return { path, isFolder: false, take }
}

async function requireText(entry: ArchiveEntry, { bytes, parts }: { bytes: number; parts: number }): Promise<string> {
  const text = await textOf(entry, bytes)
  if (text !== null && isWithinBounds(text, { depth: deepest, parts })) return text
  throw archiveInvalid(`${quoted(entry.path)} is too long, or no UTF-8.`)
}

function parsed<T>(path: string, value: T | null): T {
  if (value === null) throw archiveInvalid(`${quoted(path)} is damaged, or of another version.`)
  return value
}
