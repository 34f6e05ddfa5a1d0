import { AuthError } from '../../errors.js'
import type { SessionMode } from '../../model/session.js'
import type { UserRecord } from '../../model/user.js'
import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import { type OpenSessionPorts, openSession } from '../session/open-session.js'
import { mayMail } from '../steps/account-limits.js'
import { auditEvent } from '../steps/audit.js'
import type { IssuedSession } from '../steps/issue-tokens.js'
import { requireEmail } from '../steps/require-email.js'
import { runHook } from '../steps/run-hook.js'
import { afterRegister } from './after-register.js'
import { draftVerification } from './draft.js'
import { fileRegistration } from './file.js'

export type RegisterPorts = OpenSessionPorts &
  Pick<Ports, 'users' | 'oneTimeTokens' | 'passwords' | 'passwordFaults' | 'keyring' | 'mails' | 'limiter' | 'audit'>

export interface RegisterInput {
  email: string
  password: string
  name: string | null
  fields: Readonly<Record<string, unknown>>
  mode: SessionMode
  visitor: Visitor
  /** What the browser holds of its device. */
  device: string | null
}

export interface Registered {
  /** What the asking browser keeps; with it one click or the code confirms. */
  handle: string
  /** Only where verification is optional: the account exists and is signed in. */
  issued: IssuedSession | null
}

/**
 * Registers an address.
 *
 * With required verification no account is made yet: everything waits inside the registration's own token, and the
 * answer, its work and its mail count are the same whether or not the address has an account (ASVS 5.0, 6.3.8).
 *
 * @throws {AuthError} `registration_disabled`, `invalid_request`, `weak_password` with `reasons`, `busy`, `hook_failed`,
 *   and where verification is optional `email_taken`
 */
export async function register(ports: RegisterPorts, input: RegisterInput): Promise<Registered> {
  if (!ports.policy.registrationEnabled) throw new AuthError('registration_disabled')
  const email = requireEmail(input.email)
  const reasons = await ports.passwordFaults(input.password, email.canonical)
  if (reasons.length > 0) throw new AuthError('weak_password', { reasons })
  const fields = await ports.policy.parseFields(input.fields)

  const user = newUser(ports, { email: email.typed, canonical: email.canonical, name: input.name, fields })
  await runHook(ports.hooks.beforeRegister, { user, method: 'password', visitor: input.visitor })
  const passwordHash = await ports.passwords.hash(input.password)

  const handle = ports.random.token()
  if (ports.policy.emailVerification === 'optional') {
    return { handle, issued: await createAtOnce(ports, { ...user, passwordHash }, handle, input) }
  }
  await fileRegistration(ports, email.canonical, handle, {
    applicant: { email: email.typed, name: input.name, fields, passwordHash, identity: null },
    visitor: input.visitor,
  })
  return { handle, issued: null }
}

async function createAtOnce(
  ports: RegisterPorts,
  user: UserRecord,
  handle: string,
  { mode, visitor, device }: RegisterInput,
): Promise<IssuedSession> {
  const audit = auditEvent(ports, 'account_created', visitor, { userId: user.id })
  const confirm = (await mayMail(ports, user.emailCanonical)) ? draftVerification(ports, user, handle) : undefined
  const created = await ports.users.create(user, audit, confirm)
  if (!created) return refuseTaken(ports, user.emailCanonical, visitor)

  await afterRegister(ports, { user, method: 'password', visitor })
  return openSession(ports, { user, mode, method: 'registration', amr: ['pwd'], visitor, device })
}

async function refuseTaken(ports: RegisterPorts, email: string, visitor: Visitor): Promise<never> {
  const existing = await ports.users.findByEmail(email)
  const facts = { userId: existing?.id ?? null, outcome: 'failure', detail: { reason: 'email_taken' } } as const
  await ports.audit.record(auditEvent(ports, 'registration_requested', visitor, facts))
  throw new AuthError('email_taken')
}

/** A user as it is first written; `passwordHash` and `emailVerified` are the caller's to set. */
export function newUser(
  ports: Pick<Ports, 'clock' | 'random'>,
  from: { email: string; canonical: string; name: string | null; fields: Readonly<Record<string, unknown>> },
): UserRecord {
  return {
    id: ports.random.id(),
    email: from.email,
    emailCanonical: from.canonical,
    emailVerified: false,
    name: from.name,
    passwordHash: null,
    roles: [],
    fields: from.fields,
    version: 1,
    disabledAt: null,
    disabledUntil: null,
    factors: [],
    identities: [],
    createdAt: ports.clock.now(),
    lastLoginAt: null,
  }
}
