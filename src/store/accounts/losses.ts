import type { AuditEvent } from '../../model/audit-event.js'
import { impersonationMailId } from '../../model/outbox-mail.js'
import { type ImpersonatedSession, impersonatedAmr } from '../../model/session.js'
import { type DroppedTokens, dropTokens } from '../one-time-tokens.js'
import { makeDue } from '../outbox.js'
import { toImpersonated } from '../session-rows.js'
import { backupCodes, devices, passkeys, sessions } from '../tables.js'
import type { Unit } from '../unit.js'
import { dropIdentities } from './identity-rows.js'

/** What an account loses with a change, besides the columns of its own row. */
export interface AccountLosses {
  sessions?: true
  devices?: true
  backupCodes?: true
  identities?: true
  passkeys?: true
  tokens?: DroppedTokens
}

/** Everything that signs the user in, may do so later, or marks a browser as known. Undos of an address change stay. */
export const everyHold: AccountLosses = { sessions: true, devices: true, tokens: 'all_but_undos' }

/** Backup codes and pending enrolments are dropped with the second factor. */
export const lossesWithFactor: AccountLosses = { backupCodes: true, tokens: ['two_factor_enrolment'] }

/** A user who signs in knows the password, or needs none, so mailed reset links are dropped. */
export const lossesWithSignIn: AccountLosses = { tokens: ['password_reset', 'invite'] }

/** The account's other confirmations are dropped with the one that is used. */
export const lossesWithVerification: AccountLosses = { tokens: ['email_verification'] }

export const lossesWithDeletion: AccountLosses = {
  sessions: true,
  devices: true,
  backupCodes: true,
  identities: true,
  passkeys: true,
  tokens: 'all',
}

/**
 * The end of an impersonation as a part of the step that `step` records: who ended the session also ended the impersonation.
 * Null when `step` is that event itself.
 */
function impersonationEnd(
  step: AuditEvent,
  { id: sessionId, userId, createdAt, expiresAt }: ImpersonatedSession,
  id: string,
): AuditEvent | null {
  if (step.event === 'impersonation_stopped') return null
  const endedAt = Math.min(Math.floor(step.atMs / 1000), expiresAt)
  const detail = { reason: 'revoked', seconds: Math.max(0, endedAt - createdAt) }
  return { ...step, id, event: 'impersonation_stopped', outcome: 'success', userId, sessionId, detail }
}

/** The column of an impersonated session: no query asks for what is not null. */
export const impersonated = { amr: JSON.stringify(impersonatedAmr) }

/** Removes what the account loses with a change. `recordLosses` follows. */
export async function dropLosses(unit: Unit, userId: string, losses: AccountLosses): Promise<void> {
  const owned = { user_id: userId }
  if (losses.sessions) {
    const ended = await unit.find(sessions, { ...owned, ...impersonated }, { lock: true })
    unit.unrecorded.push(...ended.flatMap(toImpersonated))
    await unit.drop(sessions, owned)
  }
  if (losses.devices) await unit.drop(devices, owned)
  if (losses.tokens) await dropTokens(unit, userId, losses.tokens)
  if (losses.backupCodes) await unit.drop(backupCodes, owned)
  if (losses.identities) await dropIdentities(unit, owned)
  if (losses.passkeys) await unit.drop(passkeys, owned)
}

/** The end of a step that changed an account: its event, and the end of each impersonation that it has ended. */
export async function recordLosses(unit: Unit, { audit, until }: { audit: AuditEvent; until: number }): Promise<void> {
  unit.audit(audit)
  const ended = unit.unrecorded.splice(0)
  await recordImpersonationEnds(unit, ended, audit)
  const ids = ended.map(({ id }) => id)
  unit.change('session', ids, until)
}

/** After the event of the step: the events of the impersonations that it ended. Their notices are due now. */
export async function recordImpersonationEnds(
  unit: Unit,
  ended: readonly ImpersonatedSession[],
  audit: AuditEvent,
): Promise<void> {
  for (const session of ended) {
    const event = impersonationEnd(audit, session, unit.randomId())
    if (event) unit.audit(event)
    await makeDue(unit, impersonationMailId(session.id), Math.floor(audit.atMs / 1000))
  }
}
