import { first } from './0001-first.js'
import { addActor } from './0002-actor.js'
import { addAdministration } from './0003-administration.js'
import { addScopes } from './0004-scopes.js'
import { addPasskeys } from './0005-passkeys.js'
import type { MigrationSteps } from './migration.js'

/** Where the names of those that ran stand. */
export const migrationsTable = 'latchkey_migrations'

/** In the order of their names. One that was released never changes: expand now, contract a release later. */
export const migrations: MigrationSteps = {
  '0001-first': first,
  '0002-actor': addActor,
  '0003-administration': addAdministration,
  '0004-scopes': addScopes,
  '0005-passkeys': addPasskeys,
}
