import { AuthError } from '../../../errors.js'
import type { BackupManifest } from '../../archives/backup-manifest.js'
import { type ArchiveRule, archiveInvalid, entryOverheadBytes } from '../../archives/entries.js'
import type { BackupParts, ReadBackup } from '../../archives/read-backup.js'
import { largestRelease } from '../../releases/unpack.js'
import type { SpaceData } from '../../storage/space.js'
import type { SpaceRecord } from '../../store/spaces.js'
import { keepRenewed } from '../spaces/claim.js'
import type { ReceivedRelease } from '../spaces/deploy.js'
import { tidyGone } from '../spaces/spaces.js'
import { withFaults } from '../spaces/store-faults.js'
import type { ReleaseStep } from '../spaces/switch-release.js'
import { buildIndexes, fillCollection, fillPairs, judgeManifest, type RestoreRules } from './fill-draft.js'
import type { BackupPorts } from './ports.js'
import { type ReleasePart, skippedRelease, writtenRelease } from './restore-release.js'
import { versionsAfter } from './switch-generation.js'

/** How far a restore is: a part has ended, so many documents are written, or indexed. */
export type RestoreProgress =
  | ReleaseStep
  | { step: 'checked'; ms: number }
  | { processed: number; of: number; collection?: string; field?: string }

export type RestoreReport = (progress: RestoreProgress) => void

/** A generation that is filled from an archive, with the release that comes with it. Nothing of it is in force. */
export interface Draft {
  generation: number
  /** Its versions are above this number. What follows the data in force must be, too. */
  above: number
  rule: ArchiveRule
  parts: BackupParts
  /** Builds the indexes. Afterwards everything is whole and on the disk. @throws {AuthError} */
  finish(backup: ReadBackup): Promise<ReceivedRelease | null>
  /** Removes all of it, unless it is in force. What cannot be removed now goes with the next sweep or start of the host. */
  discard(): Promise<void>
}

interface Wanted {
  /** As it is when the draft begins. */
  space: SpaceRecord
  /** Of the upload that fills it. */
  uploadId: string
  rules: RestoreRules
  report: RestoreReport
}

const leaseMs = 15_000

/** Needs no claim: nothing of the space changes. @throws {AuthError} `space_not_found`, `quota_exceeded`, `store_unavailable` */
export async function openDraft(ports: BackupPorts, wanted: Wanted): Promise<Draft> {
  const { space, rules, uploadId } = wanted
  const generation = await ports.generations.beginDraft(space.id, leaseMs)
  if (generation === null) throw new AuthError('space_not_found')
  const stop = keepRenewed((ms) => ports.generations.renewDraft(space.id, generation, ms), ports)
  let data: SpaceData | null = null
  const discard = async (release?: ReleasePart) => {
    stop()
    await data?.close().catch(() => {})
    await removeDraft(ports, space.id, generation).catch(() => {})
    await release?.discard().catch(() => {})
  }
  try {
    const above = await withFaults(() => versionsAfter(ports, space, generation))
    const opened = await withFaults(() => ports.data.draft(space.id, generation))
    data = opened
    await withFaults(() => opened.versions(above))
    const release = rules.release
      ? await writtenRelease(ports, space.id, uploadId)
      : skippedRelease(ports.limits.release)
    return {
      ...{ generation, above },
      rule: ruleFor(ports),
      parts: partsOf(ports, wanted, { data: opened, release }),
      finish: (backup) => withFaults(() => finish(ports, wanted, { data: opened, release, generation, backup })),
      discard: () => discard(release),
    }
  } catch (error) {
    await discard()
    throw error
  }
}

/** The row of a draft that is in force is gone, and its files have another name or get it by `adoptDraft`. */
async function removeDraft(ports: BackupPorts, spaceId: string, generation: number): Promise<void> {
  const { data, generations } = ports
  const known = await generations.read(spaceId)
  if (known?.current === generation || known?.former === generation) return
  await data.removeDrafts(spaceId, (each) => each === generation)
  await generations.endDraft(spaceId, generation)
  await tidyGone(ports, spaceId)
}

function partsOf(
  ports: BackupPorts,
  { space, rules, report }: Wanted,
  { data, release }: { data: SpaceData; release: ReleasePart },
): BackupParts {
  const longestBytes = ports.dataLimits.documentBytes
  let [processed, of, pairs] = [0, 0, 0]
  return {
    async begin(manifest: BackupManifest) {
      judgeManifest(ports, { manifest, space, rules })
      of = manifest.collections.reduce((sum, { count }) => sum + count, 0)
      pairs = manifest.pairs
    },
    documents: (collection, entry) =>
      fillCollection(data, { collection, entry, longestBytes }, (count) => {
        processed += count
        report({ processed, of })
      }),
    pairs: (entry) => fillPairs(data, { entry, count: pairs, longestBytes }),
    release: (entry) => withFaults(() => release.take(entry)),
  }
}

async function finish(
  ports: BackupPorts,
  { space, rules, report }: Wanted,
  {
    data,
    release,
    generation,
    backup,
  }: { data: SpaceData; release: ReleasePart; generation: number; backup: ReadBackup },
): Promise<ReceivedRelease | null> {
  await buildIndexes(data, { listed: backup.indexes, known: backup.manifest.collections }, report)
  await data.close()
  await ports.data.syncDraft(space.id, generation)
  release.requireWhole()
  return rules.verifyOnly ? null : release.finish()
}

/** Of the texts beside the data. */
const textBytes = 128 * 1024 * 1024

function ruleFor({ dataLimits, limits }: BackupPorts): ArchiveRule {
  return {
    mostBytes: mostArchiveBytes({ dataLimits, limits }),
    tooLarge: () =>
      new AuthError('quota_exceeded', {
        detail: 'The archive unpacks to more than a space may hold. Raise limits.space of the host.',
      }),
    damaged: (cause) => archiveInvalid('The archive is cut off or damaged.', undefined, cause),
  }
}

/** Of an archive, and of what it unpacks to. Escapes make a text longer than what is stored. */
export function mostArchiveBytes({ dataLimits, limits }: Pick<BackupPorts, 'dataLimits' | 'limits'>): number {
  const entries = 2_000 * entryOverheadBytes
  return 4 * dataLimits.spaceBytes + largestRelease(limits.release) + textBytes + entries
}
