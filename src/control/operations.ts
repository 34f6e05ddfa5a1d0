import type { Health } from '../model/health.js'
import type { Migrations } from '../model/migrations.js'
import type { Early } from '../wiring/early.js'
import { createHealth } from '../wiring/health.js'
import type { Opening } from '../wiring/opening.js'

/** Calls for operating the application. */
export interface OperationsApi {
  /**
   * The state of this process and its store, within two seconds. Never rejects. Concurrent calls share one query to the
   * store.
   *
   * @example app.get('/health', async (req, res) => {
   *   const health = await auth.health()
   *   res.status(health.status === 'down' ? 503 : 200).json(health)
   * })
   */
  health(): Promise<Health>
  /**
   * A dry run: the migrations that have run, and those of this release, statement by statement. Changes nothing.
   *
   * Call it before the store opens: after `createAuth` before any other call, after `init` before anything is awaited. Then
   * nothing is opened or migrated until `ready()`, a request or another call asks for it. Later nothing is pending any more.
   * A Kysely dialect of the application stays open.
   *
   * @throws what is wrong with the database
   * @example
   * const auth = createAuth(settings)
   * for (const { name, sql } of (await auth.migrations()).pending) console.log(name, sql)
   * await auth.close()
   */
  migrations(): Promise<Migrations>
}

export function createOperationsApi(opening: Opening, early: Early): OperationsApi {
  return {
    health: createHealth(opening, early),
    async migrations() {
      if (!opening.hold()) return (await opening.ready()).operations.migrations()
      const { readMigrations } = await import('../wiring/dry-run.js')
      return readMigrations(early)
    },
  }
}
