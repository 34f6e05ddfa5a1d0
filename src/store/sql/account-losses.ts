import type { AuditEvent } from '../../model/audit-event.js'
import { impersonationMailId } from '../../model/outbox-mail.js'
import type { ImpersonatedSession } from '../../model/session.js'
import { type AccountLosses, impersonationEnd } from '../account-losses.js'
import { toImpersonated } from '../session-rows.js'
import { writeAudit } from './audit.js'
import { writeChanges } from './changes.js'
import type { Unit } from './engine/steps.js'
import { dropIdentities } from './identity-rows.js'
import { dropTokens } from './one-time-tokens.js'
import { makeDue } from './outbox.js'

/** Deletes what the account loses with a change. `recordLosses` follows. */
export async function dropLosses(unit: Unit, userId: string, losses: AccountLosses): Promise<void> {
  const { sessions, devices, tokens, backupCodes, identities, passkeys } = losses
  if (sessions) await dropSessions(unit, userId)
  if (devices) await unit.db.deleteFrom('latchkey_devices').where('user_id', '=', userId).execute()
  if (tokens) await dropTokens(unit, userId, tokens)
  if (backupCodes) await unit.db.deleteFrom('latchkey_backup_codes').where('user_id', '=', userId).execute()
  if (identities) await dropIdentities(unit, userId)
  if (passkeys) await unit.db.deleteFrom('latchkey_passkeys').where('user_id', '=', userId).execute()
}

async function dropSessions(unit: Unit, userId: string): Promise<void> {
  const impersonated = await unit.db
    .selectFrom('latchkey_sessions')
    .selectAll()
    .where('user_id', '=', userId)
    .where('actor_user_id', 'is not', null)
    .execute()
  unit.unrecorded.push(...impersonated.flatMap(toImpersonated))
  await unit.db.deleteFrom('latchkey_sessions').where('user_id', '=', userId).execute()
}

/** The end of a step that changed an account: its event, and the end of each impersonation that it has ended. */
export async function recordLosses(unit: Unit, { audit, until }: { audit: AuditEvent; until: number }): Promise<void> {
  await writeAudit(unit, audit)
  const ended = unit.unrecorded.splice(0)
  await recordImpersonationEnds(unit, ended, audit)
  const ids = ended.map(({ id }) => id)
  await writeChanges(unit, 'session', ids, until)
}

/** After the event of the step: the events of the impersonations that it ended. Their notices are due now. */
export async function recordImpersonationEnds(
  unit: Unit,
  ended: readonly ImpersonatedSession[],
  audit: AuditEvent,
): Promise<void> {
  for (const session of ended) {
    const event = impersonationEnd(audit, session, unit.randomId())
    if (event) await writeAudit(unit, event)
    await makeDue(unit, impersonationMailId(session.id), Math.floor(audit.atMs / 1000))
  }
}
