import type { Migrations } from '../model/migrations.js'
import type { AccessSettings } from './access-settings.js'
import type { ApiTokens } from './api-tokens.js'
import type { AuditLog } from './audit.js'
import type { Changes } from './changes.js'
import type { Counters } from './counters.js'
import type { Devices } from './devices.js'
import type { HashKinds } from './hash-kinds.js'
import type { Identities } from './identities.js'
import type { KeyIds } from './key-ids.js'
import type { OneTimeTokens } from './one-time-tokens.js'
import type { Outbox } from './outbox.js'
import type { Passkeys } from './passkeys.js'
import type { SecondFactors } from './second-factors.js'
import type { Sessions } from './sessions.js'
import type { Users } from './users.js'

/** What each scope has for itself. */
export interface ScopedParts {
  apiTokens: ApiTokens
  accessSettings: AccessSettings
}

/**
 * Everything that outlives a request. Each verb is one atomic step: one conditional write decides, and a read may follow.
 * A store that cannot answer rejects with `AuthError('store_unavailable')`. The step has then not happened, or has happened
 * as a whole.
 */
export interface Store extends ScopedParts {
  users: Users
  identities: Identities
  passkeys: Passkeys
  sessions: Sessions
  oneTimeTokens: OneTimeTokens
  secondFactors: SecondFactors
  devices: Devices
  hashKinds: HashKinds
  keyIds: KeyIds
  counters: Counters
  outbox: Outbox
  audit: AuditLog
  changes: Changes
  /**
   * The API tokens and access settings of a space, by its id. Those of the store itself are the application's, whose scope
   * is ''. A scope neither sees nor changes what another one has. Change rows of a space have the subject `<scope>/<id>`.
   *
   * @throws {RangeError} for a text that is neither '' nor an id
   */
  at(scope: string): ScopedParts
  /** Made by the first migration, and the same for every process on this store: the `aud` of the tokens. */
  installationId: string
  /** Ids of the encryption keys that live one-time and API tokens, waiting mails and second factors still name. */
  keysInUse(now: number): Promise<string[]>
  /**
   * Deletes at most `count` tokens that expired before `before` and whose tables an extension of the store has, such as the
   * admin tokens of a space host; returns how many.
   */
  pruneFurtherTokens(before: number, count: number): Promise<number>
  /** Which migrations have run. Only reads. A store without tables has run none. */
  migrations(): Promise<Migrations>
  close(): Promise<void>
}
