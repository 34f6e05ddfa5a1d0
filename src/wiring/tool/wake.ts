import type { CounterRows } from '../../limits/counters.js'
import type { Store } from '../../store/store.js'
import { type BetweenProcesses, openBetweenProcesses } from '../between-processes.js'
import type { ToolParts } from './store.js'

/** What the tool shares with the running processes besides rows. With `redis`, it connects when first needed. */
export interface ToolWake {
  counters: CounterRows
  /** Wakes the processes that read the change feed. Without it they learn of a change by polling, up to a second later. */
  wakeOthers(): Promise<void>
  close(): Promise<void>
}

export function createToolWake(parts: ToolParts, store: Store): ToolWake {
  const { redis, database } = parts.settings
  let opened: Promise<BetweenProcesses> | null = null

  function between(): Promise<BetweenProcesses> {
    opened ??= openBetweenProcesses(parts, store)
    return opened
  }

  async function wakeOthers(): Promise<void> {
    if (redis === null) {
      if (database.kind === 'postgres') await notifyPostgres(database.url, store.installationId, parts.random.id())
      return
    }
    const { wake, pingRedis } = await between()
    wake.notify()
    await pingRedis?.() // Redis answers in order, so the message above has arrived.
  }

  return {
    counters: redis === null ? store.counters : lateCounters(async () => (await between()).counters),
    wakeOthers,
    close: async () => (await opened?.catch(() => null))?.close(),
  }
}

function lateCounters(counters: () => Promise<CounterRows>): CounterRows {
  return {
    hit: async (...hit) => (await counters()).hit(...hit),
    hitTogether: async (...hits) => (await counters()).hitTogether(...hits),
    forget: async (ids) => (await counters()).forget(ids),
  }
}

async function notifyPostgres(url: string, installationId: string, self: string): Promise<void> {
  const [{ parseServerUrl }, { notifyOnce }] = await Promise.all([
    import('../../store/sql/engine/server-address.js'),
    import('../../store/sql/engine/notify.js'),
  ])
  const address = parseServerUrl('postgres', url)
  // A pooler moves connections between clients, so no process listens.
  if (!address.pooled) await notifyOnce({ address, installationId, self })
}
