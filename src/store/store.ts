import type { Migrations } from '../model/migrations.js'
import type { AccessSettings } from './access-settings.js'
import type { ApiTokens } from './api-tokens.js'
import type { AuditLog } from './audit.js'
import type { Changes } from './changes.js'
import type { Counters } from './counters.js'
import type { Devices } from './devices.js'
import type { HashKinds } from './hash-kinds.js'
import type { Identities } from './identities.js'
import type { OneTimeTokens } from './one-time-tokens.js'
import type { Outbox } from './outbox.js'
import type { SecondFactors } from './second-factors.js'
import type { Sessions } from './sessions.js'
import type { Users } from './users.js'

/**
 * Everything that outlives a request. Each verb is one atomic step: one conditional write decides, a read may follow.
 * A store that cannot answer rejects with `AuthError('store_unavailable')`, and the step has not happened, or has whole.
 */
export interface Store {
  users: Users
  identities: Identities
  sessions: Sessions
  oneTimeTokens: OneTimeTokens
  secondFactors: SecondFactors
  devices: Devices
  hashKinds: HashKinds
  apiTokens: ApiTokens
  counters: Counters
  outbox: Outbox
  audit: AuditLog
  changes: Changes
  accessSettings: AccessSettings
  /** Made by the first migration, the same for every process on this store: the `aud` of our tokens. */
  installationId: string
  /** Ids of the encryption keys that live one-time and API tokens, waiting mails and second factors still name. */
  keysInUse(now: number): Promise<string[]>
  /** What has been done to the tables; reads only. A store without tables has done nothing. */
  migrations(): Promise<Migrations>
  close(): Promise<void>
}
