import type { AccountLosses } from '../account-losses.js'
import type { Unit } from './engine/steps.js'
import { dropIdentities } from './identity-rows.js'
import { dropTokens } from './one-time-tokens.js'

/** Deletes what the account loses with a change. */
export async function dropLosses(unit: Unit, userId: string, losses: AccountLosses): Promise<void> {
  const { sessions, devices, tokens, backupCodes, identities } = losses
  if (sessions) await unit.db.deleteFrom('latchkey_sessions').where('user_id', '=', userId).execute()
  if (devices) await unit.db.deleteFrom('latchkey_devices').where('user_id', '=', userId).execute()
  if (tokens) await dropTokens(unit, userId, tokens)
  if (backupCodes) await unit.db.deleteFrom('latchkey_backup_codes').where('user_id', '=', userId).execute()
  if (identities) await dropIdentities(unit, userId)
}
