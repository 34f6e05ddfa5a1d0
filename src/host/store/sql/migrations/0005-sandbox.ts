import type { Kysely } from 'kysely'
import type { Tables } from '../../../../store/sql/engine/schema.js'

/** Whether the host has run applications in a sandbox. */
export async function addSandbox({ schema }: Kysely<Tables>): Promise<void> {
  await schema
    .createTable('latchkey_sandbox')
    .ifNotExists()
    .addColumn('slot', 'smallint', (column) => column.primaryKey())
    .addColumn('at', 'bigint', (column) => column.notNull())
    .execute()
}
