import type { Dialect } from 'kysely'

/** A pool of connections to a MySQL or MariaDB server. */
export async function openMysql(url: string): Promise<Dialect> {
  const [{ createPool }, { MysqlDialect }] = await Promise.all([import('mysql2'), import('kysely')])
  return new MysqlDialect({ pool: createPool(url) })
}
