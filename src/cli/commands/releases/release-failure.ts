import type { HostHome } from '../../host-home.js'
import { ToolError } from '../../tool-error.js'
import type { ReleasePlace } from './report.js'

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
