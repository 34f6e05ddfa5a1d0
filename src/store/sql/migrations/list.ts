import type { Kysely } from 'kysely'
import type { Tables } from '../engine/schema.js'
import { first } from './0001-first.js'
import { addActor } from './0002-actor.js'
import { addAdministration } from './0003-administration.js'
import { addScopes } from './0004-scopes.js'
import type { MigrationContext } from './migration.js'

/** In the order of their names. One that was released never changes: expand now, contract a release later. */
export const migrations: Readonly<Record<string, (db: Kysely<Tables>, context: MigrationContext) => Promise<void>>> = {
  '0001-first': first,
  '0002-actor': addActor,
  '0003-administration': addAdministration,
  '0004-scopes': addScopes,
}
