import { releasesToRemove, sweepReleases } from '../../releases/kept.js'
import type { Claim } from '../../store/claims.js'
import { requireHeld } from './claim.js'
import type { SpacePorts } from './ports.js'

/**
 * Removes releases beyond those that are kept, and what deploys that were killed have left. Rows go first, so every listed
 * release has its files.
 *
 * @throws {AuthError} `not_current`
 */
export async function tidyReleases(ports: SpacePorts, claim: Claim): Promise<void> {
  const { spaceId } = claim
  const listed = (await ports.releases.list(spaceId)).map(({ number }) => number)
  const space = await ports.spaces.find(spaceId)
  const { release, draining } = ports.children.status(spaceId)
  const inUse = [space?.release, release, ...draining].filter((number) => typeof number === 'number')
  const surplus = releasesToRemove(listed, inUse, ports.limits.releases)
  requireHeld(await ports.releases.remove(claim, surplus))
  const known = listed.filter((number) => !surplus.includes(number))
  await sweepReleases(await ports.files.releases(spaceId), known)
}
