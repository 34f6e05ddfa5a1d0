import type { AccountLosses } from '../account-losses.js'
import { backupCodes, devices, sessions } from './engine/tables.js'
import type { Unit } from './engine/unit.js'
import { dropIdentities } from './identity-rows.js'
import { dropTokens } from './one-time-tokens.js'

/** Removes what the account loses with a change. */
export async function dropLosses(unit: Unit, userId: string, losses: AccountLosses): Promise<void> {
  const owned = { user_id: userId }
  if (losses.sessions) unit.remove(sessions, await unit.find(sessions, owned))
  if (losses.devices) unit.remove(devices, await unit.find(devices, owned))
  if (losses.tokens) await dropTokens(unit, userId, losses.tokens)
  if (losses.backupCodes) unit.remove(backupCodes, await unit.find(backupCodes, owned))
  if (losses.identities) await dropIdentities(unit, userId)
}
