import { AuthError, invalidField } from '../../../errors.js'
import { auditEvent } from '../../../flows/steps/audit.js'
import { isoTime } from '../../../lib/iso-time.js'
import type { Visitor } from '../../../model/visitor.js'
import { signedText } from '../../archives/backup-manifest.js'
import { archiveInvalid } from '../../archives/entries.js'
import { type ReadBackup, readBackup } from '../../archives/read-backup.js'
import type { Claim, SpaceRecord } from '../../store/spaces.js'
import { underClaim } from '../spaces/claim.js'
import type { ReceivedRelease } from '../spaces/deploy.js'
import { findJudged, readClaimed, visitorIn } from '../spaces/find-space.js'
import { requireDisk } from '../spaces/store-faults.js'
import { mostUploads, type Upload } from '../spaces/uploads.js'
import { type Draft, mostArchiveBytes, openDraft, type RestoreReport } from './draft.js'
import { type RestoreRules, requireForeign } from './fill-draft.js'
import type { BackupPorts } from './ports.js'
import { putReleaseInForce } from './restore-release.js'
import { restoreSettings, type SettingsOutcome, settingsLeft } from './restore-settings.js'
import {
  highestVersion,
  keptSeconds,
  partlyDone,
  startAgain,
  switchGeneration,
  tidyDrafts,
} from './switch-generation.js'

export interface Restoration {
  /** The name of the space. */
  space: string
  /** The archive as it arrives. When the client leaves before its end, reading must reject. */
  archive: AsyncIterable<Uint8Array>
  rules: RestoreRules
  visitor: Visitor
  /** Rejects once the caller may not restore any more: asked before anything is put in force. */
  still(): Promise<void>
}

/** What a restore has done, or would do. */
export interface Restored extends SettingsOutcome {
  /** The moment that the data is of, ISO 8601 in UTC. */
  time: string
  collections: number
  documents: number
  pairs: number
  /** null: nothing was changed. */
  undoUntil: string | null
  /** The number of the release that came with it and serves; null: none. */
  release: number | null
}

export interface RunningRestore {
  /** Runs it to its end. @throws {AuthError} */
  run(report: RestoreReport): Promise<Restored>
}

/**
 * Begins to replace the data of a space by that of a backup. Nothing is in force before the whole archive is checked: counts,
 * checksums, signature, versions and limits. A fault or a crash before that leaves everything as it was.
 *
 * @throws {AuthError} `space_not_found`, `quota_exceeded`, `invalid_request`, `space_busy`; of `run` also `archive_invalid`,
 *   `bundle_invalid`, `application_timeout`, `not_current`, `store_unavailable`, `admin_token_not_for_this`
 */
export async function restore(ports: BackupPorts, restoration: Restoration): Promise<RunningRestore> {
  const { rules, visitor } = restoration
  const space = await findJudged(ports, restoration.space, visitor)
  const isNamed = rules.confirm === space.name || rules.confirm?.startsWith(`${space.name},`) === true
  if (!rules.verifyOnly && !isNamed) {
    throw invalidField('confirm', 'must repeat the name of the space')
  }
  requireDisk(ports.files)
  const mostBytes = mostUploads.ofOneInSpace * mostArchiveBytes(ports)
  const upload = ports.uploads.enter({ spaceId: space.id, by: visitor.actor, mostBytes })
  return { run: (report) => receive(ports, { space, upload, restoration }, report).finally(() => upload.leave()) }
}

/** Fills a draft, which needs no claim. Only the switch has one, so an upload that takes long keeps no other change waiting. */
async function receive(
  ports: BackupPorts,
  { space, upload, restoration }: { space: SpaceRecord; upload: Upload; restoration: Restoration },
  report: RestoreReport,
): Promise<Restored> {
  const { rules, visitor } = restoration
  const draft = await openDraft(ports, { space, rules, uploadId: upload.id, report })
  try {
    const received = { ...restoration, archive: upload.read(restoration.archive) }
    const filled = await fill(ports, draft, received, report).catch(async (error: unknown) => {
      if (!rules.verifyOnly) await recordRefused(ports, { space, visitor, error })
      throw error
    })
    upload.leave()
    if (rules.verifyOnly) {
      const { backup, isForeign } = filled
      const left = settingsLeft(backup.settings, { isForeign, wanted: rules.settings })
      return outcomeOf(backup, { undoUntil: null, release: null, ...left })
    }
    return await underClaim(ports, { spaceId: space.id, kind: 'restore', by: visitor.actor }, async (claim) => {
      const current = await requireFollows(ports, claim, { draft, space })
      // What could not be removed now goes with the next sweep.
      await tidyDrafts(ports, space.id).catch(() => {})
      const audit = eventOf(ports, { space: current, visitor, draft, ...filled })
      const change = { space: current, to: draft.generation, isDraft: true, audit, onFailed: draft.discard }
      await switchGeneration(ports, claim, change)
      return complete(ports, claim, { space: current, restoration, filled, report })
    })
  } finally {
    await draft.discard()
  }
}

/**
 * Another restore, or an undo, may have replaced the data since the draft began. Its versions were chosen to follow those of
 * before, and none may be given twice.
 *
 * @throws {AuthError} `not_current`
 */
async function requireFollows(
  ports: BackupPorts,
  claim: Claim,
  { draft, space }: { draft: Draft; space: SpaceRecord },
): Promise<SpaceRecord> {
  const current = await readClaimed(ports, claim)
  const highest = await highestVersion(ports, current)
  if (current.generation === space.generation && (highest === null || highest < draft.above)) return current
  throw new AuthError('not_current', {
    detail: 'Another restore has replaced the data meanwhile. Nothing was changed.',
  })
}

interface Filled {
  backup: ReadBackup
  isForeign: boolean
  release: ReceivedRelease | null
}

/** Reads, writes and checks everything. Afterwards the draft is whole and on the disk. */
async function fill(
  ports: BackupPorts,
  draft: Draft,
  { archive, rules, still }: Restoration,
  report: RestoreReport,
): Promise<Filled> {
  const began = ports.monotonic()
  const backup = await readBackup(archive, draft.rule, draft.parts)
  const isForeign = judgeSignature(ports, backup, rules)
  const release = await draft.finish(backup)
  await still()
  report({ step: 'checked', ms: Math.round(ports.monotonic() - began) })
  return { backup, isForeign, release }
}

/** The data is in force. Settings come before the application starts, so that it starts with them. */
async function complete(
  ports: BackupPorts,
  claim: Claim,
  {
    space,
    restoration,
    filled,
    report,
  }: { space: SpaceRecord; restoration: Restoration; filled: Filled; report: RestoreReport },
): Promise<Restored> {
  const { backup, isForeign, release: received } = filled
  const undoUntil = isoTime(ports.clock.now() + keptSeconds)
  const visitor = visitorIn(space, restoration.visitor)
  const settings =
    restoration.rules.settings && !isForeign
      ? await bringSettings(ports, claim, { space, settings: backup.settings, visitor })
      : settingsLeft(backup.settings, { isForeign, wanted: restoration.rules.settings })
  if (received === null) {
    const began = ports.monotonic()
    await startAgain(ports, space, 'The data is restored')
    report({ step: 'started', ms: Math.round(ports.monotonic() - began) })
    return outcomeOf(backup, { undoUntil, release: null, ...settings })
  }
  const { release, warnings } = await putReleaseInForce(ports, claim, { received, visitor }, report)
  return outcomeOf(backup, { undoUntil, release, ...settings, warnings: [...settings.warnings, ...warnings] })
}

async function bringSettings(...given: Parameters<typeof restoreSettings>): Promise<SettingsOutcome> {
  const [ports, , { space }] = given
  try {
    return await restoreSettings(...given)
  } catch (error) {
    await startAgain(ports, space, 'The data is restored, not all settings are', error)
    throw partlyDone('The data is restored, not all settings are', error)
  }
}

/** @returns whether the archive is of another installation */
function judgeSignature({ signer }: BackupPorts, { checksums }: ReadBackup, rules: RestoreRules): boolean {
  const verdict = signer.verify(signedText(checksums.entries), checksums.signature)
  if (verdict === 'wrong') throw archiveInvalid('The archive was changed after it was signed.')
  if (verdict === 'foreign') requireForeign(rules)
  return verdict === 'foreign'
}

/** The archive of an attacker may be among them. The caller learns the fault even when it cannot be recorded. */
async function recordRefused(
  ports: BackupPorts,
  { space, visitor, error }: { space: SpaceRecord; visitor: Visitor; error: unknown },
): Promise<void> {
  const detail = { code: error instanceof AuthError ? error.code : 'internal_error' }
  const event = auditEvent(ports, 'restored', visitorIn(space, visitor), { outcome: 'failure', detail })
  await ports.audit.record(event).catch(() => {})
}

function eventOf(
  ports: BackupPorts,
  {
    space,
    visitor,
    draft,
    backup,
    isForeign,
  }: { space: SpaceRecord; visitor: Visitor; draft: Draft; backup: ReadBackup; isForeign: boolean },
) {
  const { time, space: from } = backup.manifest
  const detail = { generation: draft.generation, former: space.generation, time, from: from.name, foreign: isForeign }
  return auditEvent(ports, 'restored', visitorIn(space, visitor), { detail })
}

function outcomeOf(
  { manifest }: ReadBackup,
  outcome: Pick<Restored, 'undoUntil' | 'release' | 'setAgain' | 'warnings'>,
): Restored {
  const { time, collections, pairs } = manifest
  const documents = collections.reduce((sum, { count }) => sum + count, 0)
  return { time, collections: collections.length, documents, pairs, ...outcome }
}
