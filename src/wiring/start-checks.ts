import type { Keyring } from '../lib/keyring.js'
import type { Passwords } from '../passwords/passwords.js'
import type { Settings } from '../settings.js'
import type { Store } from '../store/store.js'

/** @throws {Error} when records need an encryption key that is gone */
export async function requireKeys(store: Store, keyring: Keyring, now: number): Promise<void> {
  const gone = (await store.keysInUse(now)).filter((id) => !keyring.keyIds.includes(id))
  if (gone.length === 0) return
  throw new Error(
    `records still need a secret that is gone (${gone.join(', ')}). Put the former encryptionKey second in its list, or without an encryptionKey the former JWT_REFRESH_TOKEN_SECRET`,
  )
}

/** After a change of `passkeys.rpId`, users cannot sign in with the passkeys that they have. */
export async function countUnreachable(
  { passkeys }: Store,
  settings: Pick<Settings, 'passkeys' | 'logger'>,
): Promise<void> {
  const { enabled, rpId } = settings.passkeys
  const count = enabled ? await passkeys.countOfOthers(rpId) : 0
  if (count === 0) return
  settings.logger.warn(
    { event: 'passkeys_unreachable', rpId, count },
    'Passkeys of another RP id do not sign in. Set passkeys.rpId to its former value, or ask their users to add new ones.',
  )
}

/** A failed sign-in must not be answered sooner than one by the slowest stored hash, also one that was not met yet. */
export async function coverStoredHashes(passwords: Passwords, { hashKinds }: Store): Promise<void> {
  const slowest = await hashKinds.slowest()
  if (slowest) passwords.expect(slowest)
  if (passwords.kind.milliseconds > (slowest?.milliseconds ?? 0)) await hashKinds.note(passwords.kind)
}
