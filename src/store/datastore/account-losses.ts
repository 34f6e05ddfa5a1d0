import type { AuditEvent } from '../../model/audit-event.js'
import { impersonationMailId } from '../../model/outbox-mail.js'
import type { ImpersonatedSession } from '../../model/session.js'
import { type AccountLosses, impersonationEnd } from '../account-losses.js'
import { toImpersonated } from '../session-rows.js'
import { writeAudit } from './audit.js'
import { writeChanges } from './changes.js'
import { backupCodes, devices, passkeys, sessions } from './engine/tables.js'
import type { Unit } from './engine/unit.js'
import { dropIdentities } from './identity-rows.js'
import { dropTokens } from './one-time-tokens.js'
import { makeDue } from './outbox.js'

/** Removes what the account loses with a change. `recordLosses` follows. */
export async function dropLosses(unit: Unit, userId: string, losses: AccountLosses): Promise<void> {
  const owned = { user_id: userId }
  if (losses.sessions) {
    const ended = await unit.find(sessions, owned)
    unit.unrecorded.push(...ended.flatMap(toImpersonated))
    unit.remove(sessions, ended)
  }
  if (losses.devices) unit.remove(devices, await unit.find(devices, owned))
  if (losses.tokens) await dropTokens(unit, userId, losses.tokens)
  if (losses.backupCodes) unit.remove(backupCodes, await unit.find(backupCodes, owned))
  if (losses.identities) await dropIdentities(unit, userId)
  if (losses.passkeys) unit.remove(passkeys, await unit.find(passkeys, owned))
}

/** The end of a step that changed an account: its event, and the end of each impersonation that it has ended. */
export async function recordLosses(unit: Unit, { audit, until }: { audit: AuditEvent; until: number }): Promise<void> {
  await writeAudit(unit, audit)
  const ended = unit.unrecorded.splice(0)
  await recordImpersonationEnds(unit, ended, audit)
  const ids = ended.map(({ id }) => id)
  writeChanges(unit, 'session', ids, until)
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
