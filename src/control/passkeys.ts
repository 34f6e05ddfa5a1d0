import { listPasskeysOf, removePasskeyOf } from '../flows/passkeys/list.js'
import { type PasskeyEntry, toPasskeyEntry } from '../model/factors/passkey-entry.js'
import type { Ports } from '../ports.js'
import { applicationVisitor } from './application-visitor.js'

/** Passkeys of users, for the application's own code. */
export interface PasskeysApi {
  /** The passkeys of a user, the oldest first; empty without such a user. */
  list(userId: string): Promise<PasskeyEntry[]>
  /**
   * Removes a passkey of a user who has lost it, also the last way into the account. Every session of the user ends, and a notice is
   * mailed.
   *
   * @throws {AuthError} `not_found`
   * @example for (const { id } of await auth.passkeys.list(userId)) await auth.passkeys.remove(userId, id)
   */
  remove(userId: string, id: string): Promise<void>
}

/** `ports` waits for the store to be open. */
export function createPasskeysApi(ports: () => Promise<Ports>): PasskeysApi {
  return {
    async list(userId) {
      const opened = await ports()
      const passkeys = await listPasskeysOf(opened, userId)
      return passkeys.map((passkey) => toPasskeyEntry(passkey, opened.policy.passkeys))
    },
    remove: async (userId, id) => removePasskeyOf(await ports(), { userId, id, visitor: applicationVisitor }),
  }
}
