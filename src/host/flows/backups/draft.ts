import { AuthError } from '../../../errors.js'
import { archiveInvalid } from '../../archives/archive-invalid.js'
import type { BackupManifest } from '../../archives/backup-manifest.js'
import { type ArchiveRule, entryOverheadBytes } from '../../archives/entries.js'
import type { BackupParts, ReadBackup } from '../../archives/read-backup.js'
import { largestRelease } from '../../releases/unpack.js'
import type { SpaceData } from '../../storage/space.js'
import type { Claim } from '../../store/claims.js'
import type { SpaceRecord } from '../../store/spaces.js'
import { withFaults } from '../spaces/store-faults.js'
import type { ReleaseStep } from '../spaces/switch-release.js'
import { buildIndexes, fillCollection, fillPairs } from './fill-draft.js'
import { judgeManifest, type RestoreRules } from './judge-backup.js'
import type { BackupPorts } from './ports.js'
import { type DraftedRelease, type ReleasePart, skippedRelease, writtenRelease } from './restore-release.js'
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
  rule: ArchiveRule
  parts: BackupParts
  /** Builds the indexes. Afterwards everything is whole and on the disk. @throws {AuthError} */
  finish(backup: ReadBackup): Promise<DraftedRelease | null>
  /** Removes all of it. What cannot be removed now goes with the next restore, deploy or start of the host. */
  discard(): Promise<void>
}

interface Wanted {
  space: SpaceRecord
  rules: RestoreRules
  report: RestoreReport
}

/** @throws {AuthError} `not_current`, `quota_exceeded`, `store_unavailable` */
export async function openDraft(ports: BackupPorts, claim: Claim, wanted: Wanted): Promise<Draft> {
  const { space, rules } = wanted
  const generation = await ports.generations.reserve(claim)
  if (generation === null) throw new AuthError('not_current')
  // Else the data in force, if it still has the name of a draft, would be removed as one.
  await withFaults(() => ports.data.adoptDraft(space.id, space.generation))
  const above = await withFaults(() => versionsAfter(ports, space, generation))
  const data = await withFaults(() => ports.data.draft(space.id, generation))
  const discard = async (release?: ReleasePart) => {
    await data.close().catch(() => {})
    await ports.data.removeDrafts(space.id).catch(() => {})
    await release?.discard().catch(() => {})
  }
  try {
    await withFaults(() => data.versions(above))
    const release = rules.release ? await writtenRelease(ports, claim) : skippedRelease(ports.limits.release)
    return {
      generation,
      rule: ruleFor(ports),
      parts: partsOf(ports, wanted, { data, release }),
      finish: (backup) => withFaults(() => finish(ports, wanted, { data, release, generation, backup })),
      discard: () => discard(release),
    }
  } catch (error) {
    await discard()
    throw error
  }
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
): Promise<DraftedRelease | null> {
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
