import { afterEach, beforeEach, describe } from 'vitest'
import type { TestStore } from '../support/databases.js'
import { accessSettingsContract } from './store/access-settings.js'
import { accountsContract } from './store/accounts.js'
import { apiTokensContract } from './store/api-tokens.js'
import { auditContract } from './store/audit.js'
import { changesContract } from './store/changes.js'
import { countersContract, sweptCountersContract } from './store/counters.js'
import { deletionsContract } from './store/deletions.js'
import { devicesContract } from './store/devices.js'
import { emailsContract } from './store/emails.js'
import { firstProofContract } from './store/first-proof.js'
import { hashKindsContract } from './store/hash-kinds.js'
import { identitiesContract } from './store/identities.js'
import { impersonationContract } from './store/impersonation.js'
import { keyIdsContract } from './store/key-ids.js'
import { oneTimeTokensContract } from './store/one-time-tokens.js'
import { outboxContract } from './store/outbox.js'
import { passkeysContract } from './store/passkeys.js'
import { passwordsContract } from './store/passwords.js'
import { replacedSessionsContract } from './store/replaced-sessions.js'
import { rotationContract } from './store/rotation.js'
import { scopesContract } from './store/scopes.js'
import { secondFactorsContract } from './store/second-factors.js'
import { secondStepContract } from './store/second-steps.js'
import { sessionsContract } from './store/sessions.js'
import { usersContract } from './store/users.js'
import { wholeStoreContract } from './store/whole.js'

/** Every promise of `src/store/*.ts`. Each implementation calls it with how to open an empty store. */
export function storeContract(name: string, open: () => Promise<TestStore>): void {
  describe(name, () => {
    let opened: TestStore
    beforeEach(async () => {
      opened = await open()
    })
    afterEach(() => opened.close())

    const current = () => opened
    describe('users', () => usersContract(current))
    describe('passwords', () => passwordsContract(current))
    describe('email addresses', () => emailsContract(current))
    describe('deletions by the user', () => deletionsContract(current))
    describe('identities', () => identitiesContract(current))
    describe('first proof', () => firstProofContract(current))
    describe('accounts', () => accountsContract(current))
    describe('impersonation', () => impersonationContract(current))
    describe('sessions', () => sessionsContract(current))
    describe('replaced sessions', () => replacedSessionsContract(current))
    describe('rotation', () => rotationContract(current))
    describe('second factors', () => secondFactorsContract(current))
    describe('second steps', () => secondStepContract(current))
    describe('passkeys', () => passkeysContract(current))
    describe('one-time tokens', () => oneTimeTokensContract(current))
    describe('devices', () => devicesContract(current))
    describe('kinds of hashes', () => hashKindsContract(current))
    describe('keys that signed', () => keyIdsContract(current))
    describe('API tokens', () => apiTokensContract(current))
    describe('counters', () => {
      countersContract(current)
      sweptCountersContract(current)
    })
    describe('outbox', () => outboxContract(current))
    describe('audit log', () => auditContract(current))
    describe('settings of access', () => accessSettingsContract(current))
    describe('scopes', () => scopesContract(current))
    describe('change feed', () => changesContract(current))
    describe('the whole store', () => wholeStoreContract(current))
  })
}
