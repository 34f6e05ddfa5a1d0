import { FetchFault, fetchText } from '../../lib/bounded-fetch.js'
import { publicFetch } from '../../lib/public-fetch.js'
import { nowSeconds } from '../../lib/runtime.js'
import { isProved } from '../../model/admin-role.js'
import type { Finding, Outcome, Topic } from '../../model/doctor/report.js'
import { hasFactor } from '../../model/factors/kinds.js'
import { isDisabled, type UserRecord } from '../../model/user.js'
import { keySetUrlFault } from '../../settings/jwks.js'
import { accessKeyId } from '../../tokens/jwt.js'
import { readKeySet } from '../../tokens/key-set.js'
import { policyOf } from '../policy.js'
import { counted, type DoctorContext, defineCheck, once, withStore } from './context.js'

export function accessChecks(context: DoctorContext): Topic {
  return [
    defineCheck('proxy_untrusted', () => judgeProxy(context)),
    defineCheck('allow_list_closed', () => judgeAllowList(context)),
  ]
}

/** By the request of the administrator alone: any client can send such a header, but no browser does. */
function judgeProxy({ settings, asker }: DoctorContext): Outcome {
  if (settings.development) return { skipped: 'baseUrl is on loopback.' }
  const header = asker?.forwardingHeader ?? null
  if (settings.trustedProxies.kind !== 'none' || header === null) return null
  return { finding: `Your own request arrived with the header ${header}, and trustedProxies is not set.` }
}

function judgeAllowList(context: DoctorContext): Promise<Outcome> | Outcome {
  const { settings } = context
  const { allowList, trustedProxies } = settings
  if (trustedProxies.kind !== 'hops') return null
  return withStore(context, async ({ accessSettings }) => {
    const { networks } = await accessSettings.read()
    const entries = allowList.length + networks.length
    if (entries === 0) return null
    return {
      finding: `The allow-list has ${counted(entries, 'entry', 'entries')}, and trustedProxies is the count ${trustedProxies.count}.`,
    }
  })
}

const daySeconds = 24 * 60 * 60
const oldDays = 365

export function accountChecks(context: DoctorContext): Topic {
  return [
    defineCheck('admin_missing', () => judgeAdministrators(context)),
    defineCheck('secret_old', () => judgeSecret(context)),
  ]
}

function judgeAdministrators(context: DoctorContext): Outcome | Promise<Outcome> {
  const { emails, twoFactor } = context.settings.admin
  if (emails.length === 0) return { skipped: 'admin.emails is empty.' }
  const now = nowSeconds(context.world)
  return withStore(context, async ({ users }) => {
    const found = await Promise.all(emails.map((email) => users.findByEmail(email)))
    const faults = found.map((user) => signInFault(user, now))
    if (!faults.includes(null)) {
      const reasons = emails.map((email, index) => `${email} ${faults[index]}`)
      return { finding: `No administrator can sign in: ${reasons.join(', ')}.` }
    }
    const ready = found.filter((user, index) => user !== null && faults[index] === null && hasFactor(user))
    if (!twoFactor || ready.length > 0) return null
    return { finding: 'No account of admin.emails has a second factor, which admin.twoFactor requires.' }
  })
}

/** Why this account cannot administer; null when it can. */
function signInFault(user: UserRecord | null, now: number): string | null {
  if (user === null) return 'has no account'
  if (isDisabled(user, now)) return 'is disabled'
  return isProved(user) ? null : 'has not proved the address'
}

function judgeSecret(context: DoctorContext): Promise<Outcome> {
  const { settings, world } = context
  return withStore(context, async ({ keyIds }) => {
    const signing = settings.accessSecrets.slice(0, 1).map(accessKeyId)
    const used = (await keyIds.list()).find(({ kid }) => signing.includes(kid))
    const days = used === undefined ? 0 : Math.floor((nowSeconds(world) - used.firstUsedAt) / daySeconds)
    if (days <= oldDays) return null
    return { finding: `The first JWT_ACCESS_TOKEN_SECRET has signed for ${days} days.` }
  })
}

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
