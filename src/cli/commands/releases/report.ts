import type { DeployStep, HostHome, Release } from '../../host-home.js'
import type { Output } from '../../output.js'
import type { Tool } from '../../tool.js'
import { seconds } from '../sizes.js'

/** What a release is put beside. */
export interface ReleasePlace {
  space: string
  /** Of the space; null where the host does not say it. */
  url: string | null
  /** Newest first, before the change. */
  releases: readonly Release[]
  /** The number of the release in force before; null: nothing was deployed. */
  former: number | null
}

/** Prints project and space. Nothing is bundled for a space that is not there. */
export async function startedAt({ output }: Tool, host: HostHome): Promise<ReleasePlace> {
  const space = host.space()
  const { project = '', spaces = [], user } = await host.describe()
  output.line(`Project: ${project}  Space: ${space}`)
  const releases = await host.listReleases()
  const listed = spaces.find(({ name }) => name === space)?.url ?? null
  const url = listed ?? (user === null ? null : (await host.readSpace(space)).url)
  return { space, url, releases, former: releases.find(({ state }) => state === 'current')?.number ?? null }
}

export function showSteps(
  output: Output,
  { release, steps, place }: { release: number; steps: readonly DeployStep[]; place: ReleasePlace },
): void {
  const { url, former } = place
  const took = steps.find(({ step }) => step === 'started')
  output.line(` started   release ${release}${took ? ` in ${seconds(took.ms)}` : ''}, healthy`)
  const drains = former === null || former === release ? '' : `release ${former} drains`
  const back = former !== null && former < release ? ', rollback: latchkey deploy --rollback' : ''
  output.line(` serving   ${url ?? place.space}${drains === '' ? '' : `   (${drains}${back})`}`)
}
