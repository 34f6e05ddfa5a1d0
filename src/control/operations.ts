import type { Health } from '../model/health.js'
import type { Migrations } from '../model/migrations.js'
import type { Early } from '../wiring/early.js'
import { createHealth } from '../wiring/health.js'
import type { Opening } from '../wiring/opening.js'

/** For whoever runs the application. */
export interface OperationsApi {
  /**
   * How this process and its store are, within two seconds. Never rejects. One question to the store for all who ask at
   * the same time.
   *
   * @example app.get('/health', async (req, res) => {
   *   const health = await auth.health()
   *   res.status(health.status === 'down' ? 503 : 200).json(health)
   * })
   */
  health(): Promise<Health>
  /**
   * A dry run: what has been done to the tables, and what this release would do, statement by statement. Changes nothing.
   *
   * Asked right after `createAuth` or `init`, before anything is awaited, it comes before the store is opened: then nothing
   * is opened or migrated until `ready()`, a request or another call asks for it. Asked later, there is nothing pending any
   * more. A Kysely dialect of the application stays open.
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
