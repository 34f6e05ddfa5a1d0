import { hasFactor } from '../../model/factors/kinds.js'
import type { OneTimeToken } from '../../model/one-time-token.js'
import type { OutboxMail } from '../../model/outbox-mail.js'
import type { SessionPrincipal } from '../../model/principal.js'
import type { FactorProof } from '../../model/second-factor.js'
import type { UserRecord } from '../../model/user.js'
import { systemVisitor, type Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import { readProfile } from '../account/profile.js'
import { atVersion, requirePassword } from '../account/require-password.js'
import { requireSecondStep } from '../session/sign-in.js'
import type { PasswordLimitPorts } from '../steps/account-limits.js'
import { auditEvent } from '../steps/audit.js'
import { changeMattersUntil } from '../steps/issue-tokens.js'
import { lastAdminFault } from '../steps/last-admin.js'
import { circumstances } from '../steps/notices.js'
import { type FactorPorts, requireFactor } from './second-factor.js'

export type DeleteAccountPorts = FactorPorts &
  PasswordLimitPorts &
  Pick<Ports, 'users' | 'sessions' | 'passwords' | 'oneTimeTokens' | 'mails' | 'policy' | 'home'>

export interface DeleteAccountInput {
  /** null: the account has none, and a recent sign-in by passkey, mailed code or provider takes its place. */
  password: string | null
  /** Of the second factor; null if none was given. */
  code: string | null
  visitor: Visitor
  device: string | null
}

const event = 'account_deleted'

/** The token that marks a wait is removed with it. This is only a bound that no wait reaches. */
const longestWaitSeconds = 365 * 24 * 60 * 60

/**
 * Deletes the account, after its password and, where two-factor authentication is on, a code. While a former address can still
 * take the account back, it only waits for its deletion, disabled: a thief who changed the address must not end the undo
 * (ATK-294). A notice goes to the address and to every address whose undo lives.
 *
 * @returns `waits` when the account is deleted later
 * @throws {AuthError} `invalid_credentials`, `invalid_code`, `rate_limited`, `recent_login_required`, `token_revoked`, `busy`,
 *   `would_lock_out` for the last administrator, in the host `last_admin`
 */
export async function deleteAccount(
  ports: DeleteAccountPorts,
  principal: SessionPrincipal,
  input: DeleteAccountInput,
): Promise<'deleted' | 'waits'> {
  const state = await readProfile(ports, principal)
  const asksForCode = hasFactor(state.user)
  if (!asksForCode) requireSecondStep(ports, state)
  await requirePassword(ports, state, { ...input, event })
  const proof = asksForCode ? await requireFactor(ports, state, { ...input, event }) : null

  const done = await atVersion(ports, { principal, state, refusal: 'invalid_code' }, ({ user }) =>
    remove(ports, { user, proof, visitor: input.visitor }),
  )
  if (done === 'last_admin') throw lastAdminFault(ports)
  return done
}

async function remove(
  ports: DeleteAccountPorts,
  { user, proof, visitor }: { user: UserRecord; proof: FactorProof | null; visitor: Visitor },
): Promise<'deleted' | 'waits' | 'last_admin' | null> {
  const now = ports.clock.now()
  const undos = await ports.oneTimeTokens.listByUser('email_undo', user.id, now)
  const wait = undos.length === 0 ? null : draftWait(ports, user, now)
  const facts = { userId: user.id, detail: proof ? { secondFactor: proof.kind } : {} }
  const done = await ports.users.deleteOwn(
    {
      userId: user.id,
      version: user.version,
      proof,
      wait,
      until: changeMattersUntil(ports),
      audit: auditEvent(ports, wait ? 'account_deletion_requested' : event, visitor, facts),
      mails: noticesOf(ports, { user, undos, visitor }),
      now,
    },
    ports.policy.adminEmails,
  )
  return done === 'done' ? (wait ? 'waits' : 'deleted') : done
}

/** It holds no secret. Only the account that it names matters. */
function draftWait(ports: Pick<Ports, 'random'>, { id: userId }: UserRecord, now: number): OneTimeToken {
  return {
    id: ports.random.id(),
    purpose: 'account_deletion',
    subject: userId,
    userId,
    email: '',
    tokenHash: '',
    codeHash: null,
    handleHash: null,
    payload: null,
    tries: 0,
    createdAt: now,
    expiresAt: now + longestWaitSeconds,
  }
}

/** An unverified address gets none, as of every notice. Addresses of undos were proved when the account left them. */
function noticesOf(
  ports: Pick<Ports, 'mails' | 'clock'>,
  { user, undos, visitor }: { user: UserRecord; undos: readonly OneTimeToken[]; visitor: Visitor },
): OutboxMail[] {
  const own = user.emailVerified ? [user.emailCanonical] : []
  const former = new Set(undos.map(({ email }) => email).filter((email) => email !== user.emailCanonical))
  const values = { ...circumstances(ports, visitor.userAgent), waits: undos.length > 0 ? 'yes' : '' }
  return [
    ...own.map((address) => ports.mails.compose('account-deleted', address, { ...values, former: '' })),
    ...[...former].map((address) => ports.mails.compose('account-deleted', address, { ...values, former: 'yes' })),
  ]
}

/** Deletes up to `count` accounts that waited until every undo of a changed address was over. True when there may be more. */
export async function endDeletionWaits(
  ports: Pick<Ports, 'users' | 'oneTimeTokens' | 'clock' | 'random' | 'policy'>,
  count: number,
): Promise<boolean> {
  const now = ports.clock.now()
  let deleted = 0
  for (const wait of await ports.oneTimeTokens.listByEmail('account_deletion', '', now)) {
    if (deleted >= count) return true
    const userId = wait.userId ?? ''
    const undos = await ports.oneTimeTokens.listByUser('email_undo', userId, now)
    if (undos.length > 0) continue
    const audit = auditEvent(ports, event, systemVisitor, { userId, detail: { reason: 'waited' } })
    await ports.users.deleteWaiting(wait, changeMattersUntil(ports), audit)
    deleted += 1
  }
  return false
}
