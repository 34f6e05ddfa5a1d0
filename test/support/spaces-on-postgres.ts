import { onTestFinished } from 'vitest'
import { createSpaceNouns } from '../../src/host/store/sql/host-extension.js'
import { addSpaces } from '../../src/host/store/sql/migrations/0002-spaces.js'
import { addBackups } from '../../src/host/store/sql/migrations/0003-backups.js'
import { addClaimHolders } from '../../src/host/store/sql/migrations/0004-claims.js'
import type { Change } from '../../src/model/change.js'
import { isLastByRole } from '../../src/store/accounts/last-admin.js'
import { openExtended, type SqlStoreOptions } from '../../src/store/sql/store.js'
import type { OpenedSpaces } from '../contracts/host/spaces.js'
import { storeOptions } from './databases.js'
import { standingClock } from './postgres-clock.js'

export interface PostgresBed {
  /** The search path of its sessions is that of the standing clock. */
  database(): SqlStoreOptions['database']
  query(sql: string): Promise<unknown>
}

/** The nouns of spaces on a database that was made with a standing clock. */
export async function openSpacesOn({ database, query }: PostgresBed): Promise<OpenedSpaces> {
  const changes: Change[] = []
  const open = async () => {
    const options = { ...storeOptions({ onChange: (change) => changes.push(change) }), database: database() }
    const opened = await openExtended(options, {
      migrations: { '0002-spaces': addSpaces, '0003-backups': addBackups, '0004-claims': addClaimHolders },
      migrationsTable: 'latchkey_host_migrations',
      isLastAdmin: isLastByRole,
      nouns: createSpaceNouns,
    })
    onTestFinished(() => opened.store.close())
    return opened
  }
  return {
    ...(await open()),
    changes,
    openSecond: async () => (await open()).nouns,
    async pass(milliseconds) {
      await query(standingClock.move(milliseconds))
    },
  }
}
