import { coarseNetwork } from '../../lib/ip-address.js'
import type { OneTimeToken } from '../../model/one-time-token.js'
import { decoyTemplate, type OutboxMail } from '../../model/outbox-mail.js'
import { isDisabled, type UserRecord } from '../../model/user.js'
import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import { auditEvent } from '../steps/audit.js'
import { countMail, type MailAsker, type MailLimitPorts } from '../steps/mail-limit.js'
import { codeFor, codeOfLink, digestCode, longCodeDigits } from '../steps/mailed-code.js'
import { requireEmail } from '../steps/require-account-fields.js'

type RequestOtpPorts = MailLimitPorts & Pick<Ports, 'oneTimeTokens' | 'policy'>

interface RequestOtpInput extends MailAsker {
  email: string
  /** The browser's handle of an earlier request. */
  handle: string | null
}

/**
 * Mails a code, a link or both, as `otp.mail` says, and returns the handle that they need. The handle stays in the browser (or
 * client) that asked, so that a code that was read out or phished signs in nowhere else (ASVS 5.0, 6.6.2).
 *
 * Whatever the address is, one token and one mail are written: without an account, or for a disabled one, they are decoys
 * that open nothing and are never sent (OWASP ASVS 5.0, 6.3.8). Without room in the mail limit neither is written, and the
 * answer is the same.
 *
 * @throws {AuthError} `invalid_request`
 */
export async function requestOtp(ports: RequestOtpPorts, input: RequestOtpInput): Promise<string> {
  const email = requireEmail(input.email).canonical
  const known = await ports.users.findByEmail(email)
  const now = ports.clock.now()
  const user = known && !isDisabled(known, now) ? known : null

  const userId = known?.id ?? null
  const event = 'otp_requested'
  const { mailSent } = await countMail(ports, { purpose: 'otp', address: email, asker: input, event, userId })
  if (!mailSent) return handleOfLast(ports, email, input.handle)

  const handle = ports.random.token()
  const digits = await codeLength(ports, email)
  const { token, mail } = draftOtp(ports, { email, user, handle, digits, visitor: input.visitor })
  const audit = auditEvent(ports, event, input.visitor, { userId, outcome: user ? 'success' : 'failure' })
  const live = await ports.oneTimeTokens.listByEmail('otp', email, now)
  const own = live.filter((each) => holdsOtp(ports, each, input.handle))
  const places = { ...otpPlaces, onePerBrowser: { tokenHashes: own.map(({ tokenHash }) => tokenHash) } }
  await ports.oneTimeTokens.put(token, mail, { ...places, now, audit })
  return handle
}

/**
 * Live codes of one address: one a browser, whose newest replaces its own. There are several, so that a stranger who asks does
 * not end the owner's (ATK-293). The network with the most of them loses its oldest, so fewer than three networks cannot push
 * out the only one of another.
 */
const otpPlaces = { keep: 3, sharedBy: 'email' } as const

/** Whether this is the browser (or client) that asked for the code. */
export function holdsOtp(ports: Pick<Ports, 'keyring'>, token: OneTimeToken, handle: string | null): boolean {
  if (handle === null || token.handleHash === null) return false
  return ports.keyring.digests('otp-handle', handle).includes(token.handleHash)
}

/** A browser that gets no further mail keeps the handle of its last one. Any other browser gets a handle that opens nothing. */
async function handleOfLast(ports: RequestOtpPorts, email: string, handle: string | null): Promise<string> {
  const live = await ports.oneTimeTokens.listByEmail('otp', email, ports.clock.now())
  const own = live.some((token) => holdsOtp(ports, token, handle))
  return own && handle !== null ? handle : ports.random.token()
}

/**
 * How long the next code of an address is; null for a mail without a code. Everyone can ask for codes and guess at them in a
 * browser of their own, so after a few codes without a success the next ones are longer: a hundredfold as many guesses for a
 * stranger, the same code to type for the owner, and no lockout (ATK-023, ATK-293).
 */
async function codeLength({ limiter, policy }: RequestOtpPorts, email: string): Promise<number | null> {
  if (policy.otpMail === 'link') return null
  const short = await limiter.account('shortCode', email)
  return short === null || short.allowed ? policy.codeDigits : longCodeDigits
}

interface OtpDraft {
  email: string
  user: UserRecord | null
  handle: string
  digits: number | null
  visitor: Visitor
}

/** Only the mail to the stored address holds code and link; the store keeps digests. */
function draftOtp(
  ports: RequestOtpPorts,
  { email, user, handle, digits, visitor }: OtpDraft,
): { token: OneTimeToken; mail: OutboxMail } {
  const row = { id: ports.random.id(), purpose: 'otp' } as const
  const secret = ports.random.token()
  const { otpSeconds, otpMail, authUrl } = ports.policy
  const code = digits === null ? null : codeFor(ports, secret, digits)
  const now = ports.clock.now()
  const token: OneTimeToken = {
    ...row,
    subject: `${email} ${ports.keyring.digest('otp-network', coarseNetwork(visitor.ip) ?? 'unknown').slice(-22)}`,
    userId: user?.id ?? null,
    email,
    tokenHash: ports.keyring.digest('otp', secret),
    codeHash: code === null ? null : digestCode(ports, row, code),
    handleHash: ports.keyring.digest('otp-handle', handle),
    payload: null,
    tries: 0,
    createdAt: now,
    expiresAt: now + otpSeconds,
  }
  const mail = ports.mails.compose(user ? 'otp' : decoyTemplate, email, {
    // The mail greets by name only if the address is verified. An unverified name may be a stranger's text.
    name: (user?.emailVerified && user.name) || '',
    url: otpMail === 'code' ? '' : `${authUrl}/otp?token=${secret}`,
    code: code ?? '',
    lifetimeMinutes: String(Math.floor(otpSeconds / 60)),
  })
  return { token, mail }
}

type ReadOtpLinkPorts = Pick<Ports, 'oneTimeTokens' | 'keyring' | 'clock' | 'policy'>

/** A mailed link in this browser: invalid, asked for here, or asked for in another browser. */
export type OtpLink =
  | { standing: 'invalid' | 'own' }
  | {
      standing: 'foreign'
      /** The code of the same mail, for typing where it was asked for. null: the mail has none, or it takes no more guesses. */
      code: string | null
    }

/**
 * Reads a mailed link without using it up, so that a scanner that opens it costs its owner nothing.
 *
 * The code of the mail may be shown to the holder of its link: that person could read it in the mail. It signs in only with the
 * handle of the browser that asked.
 */
export async function readOtpLink(
  ports: ReadOtpLinkPorts,
  { token, handle }: { token: string; handle: string | null },
): Promise<OtpLink> {
  const { oneTimeTokens, keyring, clock, policy } = ports
  const found = await oneTimeTokens.findByHash('otp', keyring.digests('otp', token), clock.now())
  if (found === null) return { standing: 'invalid' }
  if (holdsOtp(ports, found, handle)) return { standing: 'own' }
  return { standing: 'foreign', code: found.tries < policy.codeTries ? codeOfLink(ports, found, token) : null }
}
