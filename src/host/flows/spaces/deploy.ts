import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { AuthError } from '../../../errors.js'
import { type ReleaseLimits, type ReleaseManifest, releasePaths } from '../../../model/release.js'
import type { Visitor } from '../../../model/visitor.js'
import { numberRelease } from '../../releases/kept.js'
import { type DraftName, unpackRelease } from '../../releases/unpack.js'
import type { Claim, ReleaseRecord } from '../../store/spaces.js'
import { requireHeld, underClaim } from './claim.js'
import { findJudged, readClaimed, visitorIn } from './find-space.js'
import type { SpacePorts } from './ports.js'
import { tidyReleases } from './releases.js'
import { tidyGone } from './spaces.js'
import { requireDisk, withFaults } from './store-faults.js'
import { type ReportStep, type Switched, switchRelease } from './switch-release.js'
import { mostUploads } from './uploads.js'

export interface Deployment {
  /** The name of the space. */
  space: string
  /** The archive as it arrives. When the client leaves before its end, reading must reject. */
  archive: AsyncIterable<Uint8Array>
  /** Whether files had changed since the commit; null: the tool did not say. */
  dirty: boolean | null
  visitor: Visitor
}

/**
 * Deploys an archive: unpacks it, starts it beside the running release, and puts it in force when it is healthy. An upload that
 * breaks off changes nothing, and no other change waits for one.
 *
 * @throws {AuthError} `space_not_found`, `space_busy`, `quota_exceeded`, `bundle_invalid`, `application_timeout`, `not_current`
 * @throws what reading the archive throws
 */
export async function deploy(ports: SpacePorts, deployment: Deployment, report: ReportStep): Promise<Switched> {
  const { visitor } = deployment
  const { id } = await findJudged(ports, deployment.space, visitor)
  requireDisk(ports.files)
  const received = await receive(ports, id, deployment, report)
  try {
    return await underClaim(ports, { spaceId: id, kind: 'deploy', by: visitor.actor }, async (claim) => {
      await tidyReleases(ports, claim)
      const number = await received.number(claim)
      const row = newRelease(ports, received.manifest, { number, dirty: deployment.dirty, author: visitor.actor })
      requireHeld(await ports.releases.add(claim, row))
      const space = await readClaimed(ports, claim)
      const wanted = { space, number, event: 'released', visitor: visitorIn(space, visitor) } as const
      const switched = await switchRelease(ports, claim, wanted, report)
      // The release serves. What could not be removed now goes with the next deploy.
      await tidyReleases(ports, claim).catch(() => {})
      return switched
    })
  } finally {
    // What cannot be removed now goes with the next start of the host.
    await received.discard().catch(() => {})
    await tidyGone(ports, id).catch(() => {})
  }
}

/** A release whose files are there, under a name of their own. */
export interface ReceivedRelease {
  manifest: ReleaseManifest
  /** Gives the files their number. @throws {AuthError} `not_current` */
  number(claim: Claim): Promise<number>
  /** Removes the files, unless they have a number by now. */
  discard(): Promise<void>
}

/** Unpacks the archive. Nothing of the space changes. */
async function receive(
  ports: SpacePorts,
  spaceId: string,
  { archive, visitor }: Deployment,
  report: ReportStep,
): Promise<ReceivedRelease> {
  const began = ports.monotonic()
  const { release: limits } = ports.limits
  const upload = ports.uploads.enter({ spaceId, by: visitor.actor, mostBytes: mostUploadBytes(limits) })
  try {
    const name = `draft-${upload.id}` as const
    const folder = await ports.files.releases(spaceId)
    const manifest = await withFaults(() => unpackRelease(upload.read(archive), { folder, number: name }, limits))
    report({ step: 'uploaded', ms: Math.round(ports.monotonic() - began) })
    return receivedRelease(ports, { folder, name, manifest })
  } finally {
    upload.leave()
  }
}

/** Of all archives that one caller sends at once. Unpacked, each is judged by its parts. */
function mostUploadBytes({ code, assets }: ReleaseLimits): number {
  return mostUploads.ofOneInSpace * (code + assets + 16 * 1024 * 1024)
}

/** @param draft `name`: of the folder of its files, in `folder`, that of all releases of the space */
export function receivedRelease(
  { releases }: Pick<SpacePorts, 'releases'>,
  { folder, name, manifest }: { folder: string; name: DraftName; manifest: ReleaseManifest },
): ReceivedRelease {
  return {
    manifest,
    async number(claim) {
      const number = await releases.reserve(claim)
      if (number === null) throw new AuthError('not_current')
      await numberRelease(folder, name, number)
      return number
    },
    discard: () => rm(join(folder, name), { recursive: true, force: true }),
  }
}

/** The row of a release that was not started yet. */
export function newRelease(
  { clock }: Pick<SpacePorts, 'clock'>,
  { files, git, tool }: ReleaseManifest,
  given: Pick<ReleaseRecord, 'number' | 'dirty' | 'author'>,
): ReleaseRecord {
  const code = files.find(({ path }) => path === releasePaths.code)
  if (!code) throw new TypeError('A judged manifest lists the bundle.')
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
  return { ...given, sha256: code.sha256, bytes, git, tool, createdAt: clock.now(), outcome: null, fault: null }
}
