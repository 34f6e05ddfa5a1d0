import { AuthError } from '../../errors.js'
import { type EmailAddress, parseEmailAddress } from '../../lib/email-address.js'
import type { Identity } from '../../model/identity.js'
import { isDisabled, type UserRecord } from '../../model/user.js'
import type { Visitor } from '../../model/visitor.js'
import type { ProviderAccount } from '../../oauth/provider.js'
import type { Ports } from '../../ports.js'
import { afterRegister } from '../registration/after-register.js'
import { type JudgePorts, judgeAndMailAgain } from '../registration/judge-and-mail-again.js'
import { newUser } from '../registration/register.js'
import { refuseLogin } from '../session/refuse-login.js'
import { type SignInPorts, type SignInResult, signIn } from '../session/sign-in.js'
import { auditEvent } from '../steps/audit.js'
import { isReserved } from '../steps/email-tokens.js'
import { changeMattersUntil } from '../steps/issue-tokens.js'
import { runHook } from '../steps/run-hook.js'
import { forgetFactorTries } from '../two-factor/second-factor.js'
import { identityNotice } from './identity-notice.js'
import { keepNewcomer, newcomerFields, newcomerName } from './newcomer.js'

export type EnterPorts = SignInPorts & JudgePorts & Pick<Ports, 'users' | 'identities' | 'providers'>

/** Somebody whom a provider has identified. */
export interface Arrival {
  provider: string
  account: ProviderAccount
  /** What the browser keeps of its way to the provider. */
  handle: string
  visitor: Visitor
  device: string | null
}

export type Entry =
  | { kind: 'signed_in'; result: SignInResult }
  /** Nobody knows yet which address is theirs; it waits for this browser to say. */
  | { kind: 'incomplete' }
  | { kind: 'failure'; code: EntryFault; userId?: string }

type EntryFault =
  | 'oauth_email_unverified'
  | 'oauth_link_required'
  | 'account_disabled'
  | 'email_not_verified'
  | 'registration_disabled'

const attempts = 3

/**
 * Finds or makes the account of somebody whom a provider has identified. The provider's id of them decides, whatever their
 * address is by now (ASVS 5.0, 6.8.1). An address joins them to an account only where the provider's word about it suffices;
 * where nobody had verified that account before, nothing that may have been planted is left of it (GHSA-g38m-r43w-p2q7).
 *
 * @throws {AuthError} `busy`, what a hook around registration throws, and as `openSession`
 */
export async function enterByIdentity(ports: EnterPorts, arrival: Arrival): Promise<Entry> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const entry = await decide(ports, arrival)
    if (entry) return entry
  }
  throw new AuthError('busy', { retryAfterSeconds: 1 })
}

/** Null when something else was there by the time of the step. */
async function decide(ports: EnterPorts, arrival: Arrival): Promise<Entry | null> {
  const { provider, account } = arrival
  const known = await ports.identities.find(provider, account.id)
  if (known) return enter(ports, known, arrival)
  const unverified = account.email !== null && account.emailVerified === false
  if (unverified) return { kind: 'failure', code: 'oauth_email_unverified' }

  const email = account.email === null ? null : parseEmailAddress(account.email)
  const trusted = account.emailVerified === true && account.authoritative
  const existing = email && (await ports.users.findByEmail(email.canonical))
  if (existing) return trusted ? join(ports, existing, arrival) : { kind: 'failure', code: 'oauth_link_required' }

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
  const { visitor, device } = arrival
  const fault = await judgeAndMailAgain(ports, user, visitor)
  if (fault) return { kind: 'failure', code: fault, userId: user.id }
  const method = methodOf(arrival)
  const result = await signIn(ports, { user, mode: 'cookie', method, amr: ['fed'], visitor, device })
  return { kind: 'signed_in', result }
}

async function join(ports: EnterPorts, user: UserRecord, arrival: Arrival): Promise<Entry | null> {
  if (isDisabled(user, ports.clock.now())) return { kind: 'failure', code: 'account_disabled', userId: user.id }
  const { provider, visitor } = arrival
  const identity = identityOf(ports, user, arrival)
  const detail = { provider, firstProof: !user.emailVerified }
  const step = {
    until: changeMattersUntil(ports),
    audit: auditEvent(ports, 'identity_linked', visitor, { userId: user.id, detail }),
    // The provider has just said whose address it is.
    ...identityNotice(ports, { user: { ...user, emailVerified: true }, provider, visitor, change: 'linked' }),
  }
  const email = user.emailCanonical
  // The first proof drops a planted second factor, and with it what was guessed at that.
  if (!user.emailVerified) await forgetFactorTries(ports, user.id)
  const linked = user.emailVerified
    ? await ports.identities.link({ identity, by: { email } }, step)
    : await ports.identities.linkByProof(identity, email, step)
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
  const identity = identityOf(ports, fresh, arrival)
  const user: UserRecord = { ...fresh, emailVerified: true, identities: [{ provider, linkedAt: identity.linkedAt }] }
  const method = methodOf(arrival)
  await runHook(ports.hooks.beforeRegister, { user, method, visitor }).catch((refusal: unknown) =>
    refuseLogin(ports, { userId: null, method, visitor }, refusal),
  )

  const audit = auditEvent(ports, 'account_created', visitor, { userId: user.id, detail: { method } })
  if (!(await ports.identities.create(user, identity, audit))) {
    return (await isReserved(ports, canonical)) ? { kind: 'failure', code: 'oauth_link_required' } : null
  }
  await afterRegister(ports, { user, method, visitor })
  return enter(ports, user, arrival)
}

function identityOf(ports: Pick<Ports, 'clock'>, { id }: UserRecord, { provider, account }: Arrival): Identity {
  return { provider, subject: account.id, userId: id, linkedAt: ports.clock.now() }
}

function methodOf({ provider }: Arrival): string {
  return `oauth:${provider}`
}
