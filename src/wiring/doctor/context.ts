import type { World } from '../../lib/runtime.js'
import { type CheckCode, checkRows } from '../../model/doctor/checks.js'
import type { Asker, Check, Outcome } from '../../model/doctor/report.js'
import type { Migrations } from '../../model/migrations.js'
import type { Settings } from '../../settings.js'
import type { Store } from '../../store/store.js'

/** Everything that the checks of the server and of the local tool may ask. */
export interface DoctorContext {
  settings: Settings
  world: World
  /** null in the tool. */
  asker: Asker | null
  /** The store. Rejects when it cannot be opened. */
  store(): Promise<DoctorStore>
  /** Asks the database for anything. Rejects when it does not answer. */
  reach(): Promise<unknown>
  /** Reads the state of the tables, and changes nothing. */
  migrations(): Promise<Migrations>
  /** The age of the change feed; null in the tool, which reads none. */
  feedAgeMs(): number | null
  /** Why passwords are hashed on the event loop; null while worker threads hash them. */
  hashFallback(): string | null
  /** The version of an optional package; null when it cannot be found. */
  installedVersion(name: string): string | null
  /** 0 ≤ n < 1. */
  random(): number
}

export type DoctorStore = Pick<Store, 'accessSettings' | 'changes' | 'keyIds' | 'outbox' | 'users'>

/** Joins a check with its row. */
export function defineCheck(code: CheckCode, check: Check['check']): Check {
  return { code, row: checkRows[code], check }
}

/** A number with its noun: `1 mail`, `2 mails`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}

/** Asks once for all checks of a topic. */
export function once<Value>(ask: () => Promise<Value>): () => Promise<Value> {
  let asked: Promise<Value> | null = null
  return () => {
    asked ??= ask()
    return asked
  }
}

/** A check that needs the store, which another check reports when it cannot be opened. */
export async function withStore(
  { store }: Pick<DoctorContext, 'store'>,
  check: (store: DoctorStore) => Promise<Outcome>,
): Promise<Outcome> {
  const opened = await store().catch(() => null)
  return opened === null ? { skipped: 'The database cannot be opened as it is.' } : check(opened)
}
