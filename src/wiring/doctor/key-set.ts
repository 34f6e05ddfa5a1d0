import { FetchFault, fetchText } from '../../lib/bounded-fetch.js'
import { publicFetch } from '../../lib/public-fetch.js'
import type { Finding, Outcome, Topic } from '../../model/doctor/report.js'
import { keySetUrlFault } from '../../settings/jwks.js'
import { readKeySet } from '../../tokens/key-set.js'
import { policyOf } from '../policy.js'
import { type DoctorContext, defineCheck, once } from './context.js'

const limitMs = 4_000
const limitBytes = 256 * 1024

/** What came from the URL of the key set: its text, a finding, or null when there is no other issuer. */
type Fetched = { text: string } | Finding | null

export function keySetChecks(context: DoctorContext): Topic {
  const fetched = once(() => fetchKeySet(context))
  return [
    defineCheck('jwks_unreachable', async () => {
      const found = await fetched()
      if (found === null) return noIssuer
      return 'text' in found ? null : found
    }),
    defineCheck('jwks_no_key', async () => {
      const found = await fetched()
      if (found === null) return noIssuer
      return 'text' in found ? judgeKeys(context, found.text) : { skipped: 'The key set cannot be fetched.' }
    }),
    defineCheck('jwks_audience', async () => {
      if ((await fetched()) === null) return noIssuer
      const { audience } = policyOf(context.settings).access
      return audience.length > 0 ? null : { finding: 'A key set is in force, and jwks.audience is not set.' }
    }),
  ]
}

const noIssuer: Outcome = { skipped: 'No key set of another issuer is in force.' }

async function fetchKeySet(context: DoctorContext): Promise<Fetched> {
  const { world, store, settings } = context
  const { access } = policyOf(settings)
  const stored = await store().then(
    ({ accessSettings }) => accessSettings.read(),
    () => null,
  )
  const url = stored?.jwksUrl ?? access.jwksUrl
  if (url === null) return null
  const fault = keySetUrlFault(url, access)
  if (fault) return { finding: `The URL of the key set is not used: it ${fault.message}.` }
  const headers = { accept: 'application/jwk-set+json, application/json' }
  try {
    const reaching = { timer: world.timer, fetch: publicFetch(world, access.reach) }
    return { text: await fetchText(reaching, { url, headers, limitMs, limitBytes }) }
  } catch (error) {
    const reason = error instanceof FetchFault ? error.reason : 'unreachable'
    // The path and query of the URL may hold a secret.
    return { finding: `The key set at ${new URL(url).host} cannot be fetched: ${reason.replaceAll('_', ' ')}.` }
  }
}

function judgeKeys({ settings }: DoctorContext, text: string): Outcome {
  const algorithms = settings.jwks?.algorithms ?? ['RS256']
  const set = readKeySet(text, algorithms)
  if (set === null) return { finding: 'The document is no key set.' }
  if (algorithms.some((algorithm) => set.matching(algorithm, undefined).length > 0)) return null
  return { finding: `The key set has no usable key for ${algorithms.join(', ')}.` }
}
