import type { StoreExtension } from '../../../store/sql/store.js'
import type { HostNouns } from '../host-nouns.js'
import { createFirstAdmin } from './first-admin.js'
import { addSpaces } from './migrations/0002-spaces.js'
import { addBackups } from './migrations/0003-backups.js'
import { addClaimHolders } from './migrations/0004-claims.js'
import { addSandbox } from './migrations/0005-sandbox.js'
import { peopleExtension } from './people.js'
import { createSpaceNouns } from './space-nouns.js'

/** What the host adds to the database of its accounts. */
export const hostExtension: StoreExtension<HostNouns> = {
  migrations: {
    ...peopleExtension.migrations,
    '0002-spaces': addSpaces,
    '0003-backups': addBackups,
    '0004-claims': addClaimHolders,
    '0005-sandbox': addSandbox,
  },
  migrationsTable: 'latchkey_host_migrations',
  isLastAdmin: peopleExtension.isLastAdmin,
  keysInUse: peopleExtension.keysInUse,
  pruneTokens: peopleExtension.pruneTokens,
  nouns: (steps) => ({
    ...peopleExtension.nouns(steps),
    ...createSpaceNouns(steps),
    firstAdmin: createFirstAdmin(steps),
  }),
}
