import { memberOf } from '../../lib/members.js'
import { late, nowSeconds, within } from '../../lib/runtime.js'
import { MailFault } from '../../mail/mailer.js'
import { verifyTransport } from '../../mail/nodemailer.js'
import type { Outcome, Topic } from '../../model/doctor/report.js'
import { counted, type DoctorContext, defineCheck, withStore } from './context.js'

const backlogSeconds = 15 * 60
/** Below the limit of a check, so that a server that does not answer is a finding. */
const smtpLimitMs = 4_500

export function mailChecks(context: DoctorContext): Topic {
  return [defineCheck('mail_backlog', () => judgeBacklog(context)), defineCheck('smtp_refused', () => verify(context))]
}

function judgeBacklog(context: DoctorContext): Promise<Outcome> {
  return withStore(context, async ({ outbox }) => {
    const { waiting, oldestAt, setAside } = await outbox.depth()
    const oldestSeconds = oldestAt === null ? 0 : nowSeconds(context.world) - oldestAt
    const isLate = oldestSeconds >= backlogSeconds
    if (!isLate && setAside === 0) return null
    const minutes = Math.floor(oldestSeconds / 60)
    const delayed = `Waiting: ${counted(waiting, 'mail')}, the oldest for ${counted(minutes, 'minute')}.`
    const given = `Set aside: ${counted(setAside, 'mail')}.`
    return { finding: [...(isLate ? [delayed] : []), ...(setAside > 0 ? [given] : [])].join(' ') }
  })
}

async function verify({ settings, world }: DoctorContext): Promise<Outcome> {
  if (settings.mail === null) return { skipped: 'The setting mail is not given.' }
  try {
    const verified = await within(world.timer, smtpLimitMs, verifyTransport(settings.mail.transport))
    if (verified === late) return { finding: 'The mail server did not answer in time.' }
    return verified ? null : { skipped: 'This kind of mail transport cannot be verified.' }
  } catch (error) {
    return {
      finding: `The mail server cannot be used: ${error instanceof MailFault ? sentences(error.code) : 'unknown'}.`,
    }
  }
}

function sentences(code: string): string {
  return code.replaceAll('_', ' ')
}

/** How many parents of a domain are asked for a DMARC record, as RFC 9989 walks up the tree. */
const mostLabels = 8

export function dnsChecks(context: DoctorContext): Topic {
  return [
    defineCheck('mail_spf', () => withDomain(context, (domain) => judgeSpf(context, domain))),
    defineCheck('mail_dmarc', () => withDomain(context, (domain) => judgeDmarc(context, domain))),
    defineCheck('mail_dkim', () => withDomain(context, () => judgeDkim(context))),
  ]
}

/** Asks DNS about the domain of `mail.from`. */
async function withDomain({ settings }: DoctorContext, judge: (domain: string) => Promise<Outcome>): Promise<Outcome> {
  if (settings.mail === null) return { skipped: 'The setting mail is not given.' }
  const { address } = settings.mail.from
  try {
    return await judge(address.slice(address.lastIndexOf('@') + 1))
  } catch {
    return { skipped: 'DNS does not answer.' }
  }
}

async function judgeSpf({ world }: DoctorContext, domain: string): Promise<Outcome> {
  const records = (await world.txt(domain)).filter((record) => /^v=spf1(?: |$)/i.test(record))
  if (records.length === 1) return null
  if (records.length === 0) return { finding: `${domain} has no SPF record.` }
  // RFC 7208 §4.5: more than one is a permanent error.
  return { finding: `${domain} has ${records.length} SPF records, which counts as none.`, cure: 'Join them into one.' }
}

async function judgeDmarc({ world }: DoctorContext, domain: string): Promise<Outcome> {
  for (const parent of parentsOf(domain)) {
    const records = await world.txt(`_dmarc.${parent}`)
    if (records.some((record) => /^v=DMARC1\s*(?:;|$)/i.test(record))) return null
  }
  return { finding: `_dmarc.${domain} has no DMARC record, and no domain above it has one.` }
}

/** The domain itself, then its parents with two labels or more. */
function parentsOf(domain: string): string[] {
  const labels = domain.split('.').slice(-mostLabels)
  const parents = labels.slice(0, -1).map((_, index) => labels.slice(index).join('.'))
  return parents.length === 0 ? [domain] : parents
}

async function judgeDkim({ settings, world }: DoctorContext): Promise<Outcome> {
  const selectors = selectorsOf(settings.mail?.transport)
  if (selectors.length === 0) return { skipped: 'The mail transport names no DKIM selector.' }
  const findings = await Promise.all(
    selectors.map(async (name) => {
      const records = await world.txt(name)
      const isPublished = records.some((record) => /(?:^|;)\s*p=[A-Za-z0-9+/]/.test(record))
      return isPublished ? [] : [{ finding: `${name} has no DKIM record with a public key.` }]
    }),
  )
  return findings.flat()
}

/** The names of the records for the keys in nodemailer's option `dkim` (RFC 6376 §3.6.2.1). */
function selectorsOf(transport: unknown): string[] {
  const dkim = memberOf(transport, 'dkim') ?? memberOf(memberOf(transport, 'options'), 'dkim')
  const keys = memberOf(dkim, 'keys')
  return (Array.isArray(keys) ? keys : [dkim]).flatMap((key) => {
    const [selector, domain] = [memberOf(key, 'keySelector'), memberOf(key, 'domainName')]
    return typeof selector === 'string' && typeof domain === 'string' ? [`${selector}._domainkey.${domain}`] : []
  })
}
