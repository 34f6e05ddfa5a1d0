import { FetchFault, fetchAnswer } from '../../lib/bounded-fetch.js'
import { publicFetch } from '../../lib/public-fetch.js'
import type { Finding, Outcome, Topic } from '../../model/doctor/report.js'
import { createProviders, providerKinds } from '../../oauth/providers.js'
import type { Logger, ProviderSettings } from '../../settings.js'
import { createClientAssertions } from '../../tokens/client-assertions.js'
import { createIdTokens } from '../../tokens/id-tokens.js'
import { type DoctorContext, defineCheck, once } from './context.js'

const limitMs = 4_000
const limitBytes = 256 * 1024

/** A provider, and where a sign-in at it begins: or why that is not known. */
interface Start {
  name: string
  url: string | null
  reason: string
}

export function oauthChecks(context: DoctorContext): Topic {
  const starts = once(() => Promise.all(context.settings.providers.map((provider) => findStart(context, provider))))
  return [
    defineCheck('oauth_discovery', async () => {
      const found = await starts()
      if (found.length === 0) return noProvider
      return found
        .filter(({ url }) => url === null)
        .map(({ name, reason }) => {
          return { finding: `The provider ${name} cannot be asked for its addresses: ${reason.replaceAll('_', ' ')}.` }
        })
    }),
    defineCheck('oauth_redirect', async () => {
      const found = await starts()
      if (found.length === 0) return noProvider
      const outcomes = await Promise.all(found.map((start) => tryStart(context, start)))
      const findings = outcomes.filter((outcome): outcome is Finding => outcome !== null && 'finding' in outcome)
      if (findings.length > 0) return findings
      return outcomes.find((outcome) => outcome !== null) ?? null
    }),
  ]
}

const noProvider = { skipped: 'No OAuth provider is set.' }

/** Looks like a real request, and leads nowhere: its state was never stored. */
const dryRequest = { state: 'latchkey-doctor', nonce: 'latchkey-doctor', verifier: 'latchkey-doctor'.repeat(3) }

async function findStart({ world }: DoctorContext, provider: ProviderSettings): Promise<Start> {
  let reason = 'unknown'
  const logger: Logger = {
    warn(fields) {
      reason = String(fields.reason ?? reason)
    },
    error() {},
  }
  const workshop = { world, idTokens: createIdTokens(world), signAssertion: createClientAssertions(world), logger }
  const { name } = provider
  const url = await createProviders(providerKinds, [provider], workshop).find(name)?.authorizationUrl(dryRequest)
  return { name, url: url ?? null, reason }
}

/**
 * Opens the sign-in page as a browser would. Its address may come from a document of the provider, so only public addresses
 * are asked (OWASP on SSRF).
 */
async function tryStart({ world, settings }: DoctorContext, { name, url }: Start): Promise<Outcome> {
  if (url === null) return { skipped: `The address of the provider ${name} is not known.` }
  const reach = { allowPrivate: false, allowLoopback: settings.development }
  const headers = { accept: 'text/html', 'user-agent': 'latchkey' }
  try {
    const reaching = { timer: world.timer, fetch: publicFetch(world, reach) }
    const answer = await fetchAnswer(reaching, { url, headers, limitMs, limitBytes, readable })
    const { status, text } = answer
    if (!isRefusal(status, answer.headers.get('location') ?? '', text)) return null
    return { finding: `The provider ${name} refuses the sign-in request with status ${status}.` }
  } catch (error) {
    const reason = error instanceof FetchFault ? error.reason.replaceAll('_', ' ') : 'unreachable'
    return { skipped: `The provider ${name} cannot be asked: ${reason}.` }
  }
}

const readable = [200, 301, 302, 303, 307, 308, 400, 401, 403, 404, 422]

/**
 * A provider never redirects to an address that it does not know (RFC 6749 §4.1.2.1). It answers with an error, redirects to
 * an error page of its own, or writes the error into a page.
 */
function isRefusal(status: number, location: string, text: string): boolean {
  if (status >= 400) return true
  if (status >= 300) return /redirect_uri_mismatch|\/(?:signin\/oauth\/)?error\b|[?&]authError=/i.test(location)
  return /redirect_uri_mismatch|invalid_redirect_uri|AADSTS50011/i.test(text)
}
