import type { Dialect } from 'kysely'

/** A pool of connections to a PostgreSQL server. */
export async function openPostgres(url: string): Promise<Dialect> {
  const [{ default: pg }, { PostgresDialect }] = await Promise.all([import('pg'), import('kysely')])
  return new PostgresDialect({ pool: new pg.Pool({ connectionString: url }) })
}
