import type { DeployStep, HostHome, Release } from '../host-home.js'
import type { Output } from '../output.js'
import type { Tool } from '../tool.js'
import { ToolError } from '../tool-error.js'
import { seconds } from './units.js'

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

/** A release that did not start, whatever the status of its problem. */
const startFaults = ['bundle_invalid', 'archive_invalid', 'application_timeout', 'application_failed']

/**
 * Rethrows why a deploy failed, with what serves now.
 *
 * @throws {ToolError}
 */
export async function explained(error: unknown, host: HostHome, place: ReleasePlace): Promise<never> {
  if (!(error instanceof ToolError)) throw error
  const { code, message, details } = error
  if (code === 'answer_cut') {
    const lines = ['The host may have gone on alone. How it ended: latchkey deploy --history']
    throw new ToolError(1, code, message, { ...details, lines })
  }
  if (!startFaults.includes(code)) throw error
  // The fault itself matters more than a list that cannot be read.
  const releases = await host.listReleases().catch(() => [])
  const newest = place.releases[0]?.number ?? 0
  const failed = releases.find(({ number, state }) => state === 'failed' && number > newest)
  throw new ToolError(1, code, message, { ...details, lines: [sentence(failed?.number ?? null, place)] })
}

function sentence(failed: number | null, { former }: ReleasePlace): string {
  const release = failed === null ? 'The release' : `Release ${failed}`
  return former === null
    ? `${release} did not start, and nothing is deployed.`
    : `${release} did not start; release ${former} still serves.`
}
