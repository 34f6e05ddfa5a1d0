import { pathFault, type ReleaseLimits, releasePaths } from '../../../model/release.js'
import type { Visitor } from '../../../model/visitor.js'
import type { ArchiveEntry } from '../../archives/entries.js'
import { archiveInvalid, quoted } from '../../archives/entries.js'
import { draftRelease, largestRelease } from '../../releases/unpack.js'
import type { Claim } from '../../store/spaces.js'
import { requireHeld } from '../spaces/claim.js'
import { newRelease, type ReceivedRelease, receivedRelease } from '../spaces/deploy.js'
import { readClaimed } from '../spaces/find-space.js'
import { tidyReleases } from '../spaces/releases.js'
import { type ReportStep, type Switched, switchRelease } from '../spaces/switch-release.js'
import type { BackupPorts } from './ports.js'
import { partlyDone, startAgain } from './switch-generation.js'

/** What becomes of the release of a backup. */
export interface ReleasePart {
  take(entry: ArchiveEntry): Promise<void>
  /** Every file was there. @throws {AuthError} `bundle_invalid` */
  requireWhole(): void
  /** Puts the files in their place. null: they were only read. @throws {AuthError} `bundle_invalid` */
  finish(): Promise<ReceivedRelease | null>
  discard(): Promise<void>
}

/** Writes the release beside those of the space. */
export async function writtenRelease(ports: BackupPorts, spaceId: string, uploadId: string): Promise<ReleasePart> {
  const name = `draft-${uploadId}` as const
  const folder = await ports.files.releases(spaceId)
  const draft = await draftRelease({ folder, number: name }, ports.limits.release)
  let received: ReceivedRelease | null = null
  return {
    take: draft.take,
    requireWhole: () => void draft.requireWhole(),
    async finish() {
      received = receivedRelease(ports, { folder, name, manifest: await draft.finish() })
      return received
    },
    async discard() {
      await draft.discard()
      await received?.discard()
    },
  }
}

/** Reads the release for its checksums alone. */
export function skippedRelease(limits: ReleaseLimits): ReleasePart {
  const most = largestRelease(limits)
  const paths = new Set<string>()
  let sum = 0
  return {
    async take({ path, size, bytes }) {
      const fault = path === releasePaths.manifest ? null : pathFault(path)
      if (fault !== null) throw archiveInvalid(`The path ${quoted(path)} of the release ${fault}.`)
      if (paths.has(path)) throw archiveInvalid(`${quoted(path)} of the release is there twice.`)
      paths.add(path)
      sum += size
      if (sum > most || paths.size > limits.files + 1) {
        throw archiveInvalid('The release is too large.', 'Raise limits.code or limits.assets of the host.')
      }
      for await (const _chunk of bytes);
    },
    requireWhole: () => {},
    finish: async () => null,
    discard: async () => {},
  }
}

/**
 * Starts the release with the restored data, and puts it in force when it is healthy. When it is not, the release of before is
 * started with the restored data.
 *
 * @throws {AuthError} `bundle_invalid`, `application_timeout`, `not_current`
 */
export async function putReleaseInForce(
  ports: BackupPorts,
  claim: Claim,
  { received, visitor }: { received: ReceivedRelease; visitor: Visitor },
  report: ReportStep,
): Promise<Switched> {
  try {
    const space = await readClaimed(ports, claim)
    const number = await received.number(claim)
    const row = newRelease(ports, received.manifest, { number, dirty: null, author: visitor.actor })
    requireHeld(await ports.releases.add(claim, row))
    const switched = await switchRelease(ports, claim, { space, number, event: 'released', visitor }, report)
    // What could not be removed now goes with the next deploy.
    await tidyReleases(ports, claim).catch(() => {})
    return switched
  } catch (error) {
    await startAgain(ports, { id: claim.spaceId }, 'The data is restored, the release is not', error)
    throw partlyDone('The data is restored, the release is not', error)
  }
}
