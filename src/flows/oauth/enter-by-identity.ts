import { AuthError } from '../../errors.js'
import { type EmailAddress, parseEmailAddress } from '../../lib/email-address.js'
import type { VerifiedBy } from '../../model/admin-role.js'
import type { Identity } from '../../model/identity.js'
import type { MailOutcome } from '../../model/mail-limit.js'
import { isDisabled, type UserRecord } from '../../model/user.js'
import type { Visitor } from '../../model/visitor.js'
import type { ProviderAccount } from '../../oauth/provider.js'
import type { Ports } from '../../ports.js'
import { afterRegister, newUser } from '../registration/register.js'
import { type JudgePorts, judgeAndMailAgain } from '../registration/resend-verification.js'
import { refuseLogin } from '../session/open-session.js'
import { type SignInPorts, type SignInResult, signIn } from '../session/sign-in.js'
import { auditEvent } from '../steps/audit.js'
import { isReserved } from '../steps/email-tokens.js'
import { changeMattersUntil } from '../steps/issue-tokens.js'
import { runHook } from '../steps/run-hook.js'
import { forgetFactorTries } from '../two-factor/second-factor.js'
import { identityNotice } from './link-identity.js'
import { keepNewcomer, newcomerFields, newcomerName } from './newcomer.js'

export type EnterPorts = SignInPorts & JudgePorts & Pick<Ports, 'users' | 'identities' | 'providers'>

/** A visitor whom a provider has identified. */
interface Arrival {
  provider: string
  account: ProviderAccount
  /** The handle that the browser kept on its way to the provider. */
  handle: string
  visitor: Visitor
  device: string | null
  /** What the browser holds of a sign-in that waits for its second step. */
  challenge: string | null
}

export type Entry =
  | { kind: 'signed_in'; result: SignInResult }
  /** The address is unknown; the visitor must enter it in this browser. */
  | { kind: 'incomplete' }
  | { kind: 'failure'; code: EntryFault; userId?: string; mail?: MailOutcome | null }

type EntryFault =
  | 'oauth_email_unverified'
  | 'oauth_link_required'
  | 'account_disabled'
  | 'email_not_verified'
  | 'registration_disabled'

const attempts = 3

/**
 * Finds or makes the account of a visitor whom a provider has identified. The provider's id decides, whatever their address is
 * by now (ASVS 5.0, 6.8.1). An address links the identity to an existing account only if the provider's claim of it suffices.
 * If the account's address was never verified, everything that a stranger may have set is removed (GHSA-g38m-r43w-p2q7).
 *
 * @throws {AuthError} `busy`, errors of a hook around registration, and as `openSession`
 */
export async function enterByIdentity(ports: EnterPorts, arrival: Arrival): Promise<Entry> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const entry = await decide(ports, arrival)
    if (entry) return entry
  }
  throw new AuthError('busy', { retryAfterSeconds: 1 })
}

/** Null when the stored state changed before the step. */
async function decide(ports: EnterPorts, arrival: Arrival): Promise<Entry | null> {
  const { provider, account } = arrival
  const known = await ports.identities.find(provider, account.id)
  if (known) return enter(ports, known, arrival)
  const unverified = account.email !== null && account.emailVerified === false
  if (unverified) return { kind: 'failure', code: 'oauth_email_unverified' }

  const email = account.email === null ? null : parseEmailAddress(account.email)
  const trusted = account.emailVerified === true && account.authoritative
  const existing = email && (await ports.users.findByEmail(email.canonical))
  if (existing) {
    const joins = trusted && mayJoin(ports, existing, provider)
    return joins ? join(ports, existing, arrival) : { kind: 'failure', code: 'oauth_link_required' }
  }

  if (!ports.policy.registrationEnabled) return { kind: 'failure', code: 'registration_disabled' }
  if (email && trusted) return create(ports, email, arrival)
  await keepNewcomer(ports, arrival.handle, {
    provider,
    subject: account.id,
    name: newcomerName(account.name),
    email: email?.typed ?? null,
  })
  return { kind: 'incomplete' }
}

async function enter(ports: EnterPorts, user: UserRecord, arrival: Arrival): Promise<Entry> {
  const { visitor, device, challenge } = arrival
  const fault = await judgeAndMailAgain(ports, user, arrival)
  if (fault) return { kind: 'failure', userId: user.id, ...fault }
  const method = methodOf(arrival)
  const result = await signIn(ports, { user, mode: 'cookie', method, amr: ['fed'], visitor, device, challenge })
  return { kind: 'signed_in', result }
}

async function join(ports: EnterPorts, user: UserRecord, arrival: Arrival): Promise<Entry | null> {
  if (isDisabled(user, ports.clock.now())) return { kind: 'failure', code: 'account_disabled', userId: user.id }
  const { provider, visitor } = arrival
  const identity = claimedIdentity(ports, user, arrival)
  const detail = { provider, firstProof: !user.emailVerified }
  const step = {
    until: changeMattersUntil(ports),
    audit: auditEvent(ports, 'identity_linked', visitor, { userId: user.id, detail }),
    // The provider has just confirmed the address.
    ...identityNotice(ports, { user: { ...user, emailVerified: true }, provider, visitor, change: 'linked' }),
  }
  const email = user.emailCanonical
  // The first proof removes a second factor that a stranger may have set, and with it the counted guesses.
  if (!user.emailVerified) await forgetFactorTries(ports, user.id)
  const linked = user.emailVerified
    ? await ports.identities.link({ identity, by: { email } }, step)
    : await ports.identities.linkByProof(identity, { email, verifiedBy: claimProof(ports, provider) }, step)
  if (linked === 'taken') {
    const owned = await ports.identities.find(provider, identity.subject)
    return owned ? null : { kind: 'failure', code: 'oauth_link_required' }
  }
  return linked && enter(ports, linked, arrival)
}

async function create(ports: EnterPorts, email: EmailAddress, arrival: Arrival): Promise<Entry | null> {
  const { provider, account, visitor } = arrival
  const { typed, canonical } = email
  const name = newcomerName(account.name)
  const fresh = newUser(ports, { email: typed, canonical, name, fields: await newcomerFields(ports) })
  const identity = claimedIdentity(ports, fresh, arrival)
  const proof = { emailVerified: true, verifiedBy: claimProof(ports, provider) }
  const user: UserRecord = { ...fresh, ...proof, identities: [{ provider, linkedAt: identity.linkedAt }] }
  const method = methodOf(arrival)
  await runHook(ports, 'beforeRegister', { user, method, visitor }).catch((refusal: unknown) =>
    refuseLogin(ports, { userId: null, method, visitor }, refusal),
  )

  const audit = auditEvent(ports, 'account_created', visitor, { userId: user.id, detail: { method } })
  if (!(await ports.identities.create(user, identity, audit))) {
    return (await isReserved(ports, canonical)) ? { kind: 'failure', code: 'oauth_link_required' } : null
  }
  await afterRegister(ports, { user, method, visitor })
  return enter(ports, user, arrival)
}

function methodOf({ provider }: Arrival): string {
  return `oauth:${provider}`
}

/** On what a provider's claim of an address rests. */
function claimProof({ providers }: Pick<Ports, 'providers'>, provider: string): VerifiedBy {
  return providers.find(provider)?.isAuthority ? 'provider' : 'trusted_provider'
}

/** Whether the claim suffices to join that account. The setting `trustEmail` alone leads into no administrator's account. */
function mayJoin(
  ports: Pick<Ports, 'providers' | 'policy'>,
  { emailCanonical }: UserRecord,
  provider: string,
): boolean {
  return claimProof(ports, provider) === 'provider' || !ports.policy.adminEmails.includes(emailCanonical)
}

/** The identity that the provider has just confirmed, for that user. */
function claimedIdentity(
  { clock }: Pick<Ports, 'clock'>,
  { id: userId }: UserRecord,
  { provider, account }: { provider: string; account: ProviderAccount },
): Identity {
  return { provider, subject: account.id, userId, linkedAt: clock.now() }
}
