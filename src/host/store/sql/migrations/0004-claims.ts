import type { Kysely } from 'kysely'
import type { Tables } from '../../../../store/sql/engine/schema.js'

/** Who holds the claim of a space and since when, and which generations are being filled. */
export async function addClaimHolders({ schema }: Kysely<Tables>): Promise<void> {
  const spaces = () => schema.alterTable('latchkey_spaces')
  await spaces().addColumn('claim_by', 'text').execute()
  await spaces()
    .addColumn('claim_since_ms', 'bigint', (column) => column.notNull().defaultTo(0))
    .execute()
  await schema
    .createTable('latchkey_drafts')
    .ifNotExists()
    .addColumn('space_id', 'varchar(64)', (column) => column.notNull())
    .addColumn('generation', 'integer', (column) => column.notNull())
    .addColumn('until_ms', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('latchkey_drafts_pk', ['space_id', 'generation'])
    .execute()
}
