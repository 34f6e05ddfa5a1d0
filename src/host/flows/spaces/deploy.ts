import { AuthError } from '../../../errors.js'
import { type ReleaseManifest, releasePaths } from '../../../model/release.js'
import type { Visitor } from '../../../model/visitor.js'
import { unpackRelease } from '../../releases/unpack.js'
import type { Claim } from '../../store/claims.js'
import type { ReleaseRecord } from '../../store/releases.js'
import { requireHeld, underClaim } from './claim.js'
import { findJudged, readClaimed, visitorIn } from './find-space.js'
import type { SpacePorts } from './ports.js'
import { requireDisk, withFaults } from './store-faults.js'
import { type ReportStep, type Switched, switchRelease } from './switch-release.js'
import { tidyReleases } from './tidy-releases.js'

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
 * breaks off changes nothing.
 *
 * @throws {AuthError} `space_not_found`, `space_busy`, `quota_exceeded`, `bundle_invalid`, `application_timeout`, `not_current`
 * @throws what reading the archive throws
 */
export async function deploy(ports: SpacePorts, deployment: Deployment, report: ReportStep): Promise<Switched> {
  const { id } = await findJudged(ports, deployment.space, deployment.visitor)
  requireDisk(ports.files)
  return underClaim(ports, { spaceId: id, kind: 'deploy' }, async (claim) => {
    await tidyReleases(ports, claim)
    const number = await receive(ports, claim, deployment, report)
    const space = await readClaimed(ports, claim)
    const wanted = { space, number, event: 'released', visitor: visitorIn(space, deployment.visitor) } as const
    const switched = await switchRelease(ports, claim, wanted, report)
    // The release serves. What could not be removed now goes with the next deploy.
    await tidyReleases(ports, claim).catch(() => {})
    return switched
  })
}

/** Unpacks the archive and lists the release. Returns its number. */
async function receive(
  ports: SpacePorts,
  claim: Claim,
  { archive, dirty, visitor }: Deployment,
  report: ReportStep,
): Promise<number> {
  const began = ports.monotonic()
  const number = await ports.releases.reserve(claim)
  if (number === null) throw new AuthError('not_current')
  const place = { folder: await ports.files.releases(claim.spaceId), number }
  const manifest = await withFaults(() => unpackRelease(archive, place, ports.limits.release))
  requireHeld(await ports.releases.add(claim, newRelease(ports, manifest, { number, dirty, author: visitor.actor })))
  report({ step: 'uploaded', ms: Math.round(ports.monotonic() - began) })
  return number
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
