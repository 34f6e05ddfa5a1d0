import type { PasskeyProof } from '../../model/factors/passkey.js'
import { shownColumn } from '../passkey-rows.js'
import { Refused } from '../refused.js'
import type { PasskeysTable } from '../rows.js'
import { passkeys } from './engine/tables.js'
import type { Unit, View } from './engine/unit.js'

/** The user's passkeys, the oldest first. */
export function passkeysOf(view: View, userId: string): Promise<PasskeysTable[]> {
  return view.find(passkeys, { user_id: userId }, { sort: { created_at: 1, id: 1 } })
}

/** What the user's row shows of the passkeys, as they are now. */
export async function shownPasskeys(unit: Unit, userId: string): Promise<string | null> {
  return shownColumn(await passkeysOf(unit, userId))
}

/** Passkeys that were added in that second or later: the owner can add one again, but a thief's would stay. */
export async function dropPasskeysSince(unit: Unit, userId: string, since: number): Promise<string | null> {
  const rows = await passkeysOf(unit, userId)
  unit.remove(
    passkeys,
    rows.filter(({ created_at }) => created_at >= since),
  )
  return shownPasskeys(unit, userId)
}

/** Keeps what the authenticator said. @throws {Refused} when the passkey was used meanwhile, is suspended or gone */
export async function spendPasskey(
  unit: Unit,
  userId: string,
  { id, seenCount, signCount, backedUp }: PasskeyProof,
  now: number,
): Promise<void> {
  const row = (await passkeysOf(unit, userId)).find((each) => each.id === id)
  if (!row || row.suspended_at !== null) throw new Refused()
  if (seenCount !== null && row.sign_count !== seenCount) throw new Refused()
  unit.put(passkeys, { ...row, sign_count: signCount, backed_up: backedUp ? 1 : 0, last_used_at: now })
}
