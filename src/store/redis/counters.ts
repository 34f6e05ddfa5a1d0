import type { CounterHit, CounterRule, Hit } from '../../model/counter.js'
import { counterGroup } from '../counter-windows.js'
import type { Counters } from '../counters.js'
import { hitScript, hitScriptSha } from './hit-script.js'

/** Runs one command on a connection. A failure becomes `store_unavailable`. */
export type Ask = <T>(command: (client: RedisCommands) => Promise<T>) => Promise<T>

/** The commands that counters and wake-ups send. The Redis user needs the rights to run them. */
export interface RedisCommands {
  evalsha(sha: string, keys: number, ...keysAndArguments: string[]): Promise<unknown>
  eval(script: string, keys: number, ...keysAndArguments: string[]): Promise<unknown>
  del(key: string): Promise<unknown>
}

/**
 * Counters in Redis, one key each. One script call counts one hit exactly, without a second round trip. The keys of a call
 * are in one slot (those of a group share a hash tag), so it also runs on a cluster. Every key expires by itself a minute
 * after its last window.
 *
 * If a connection loses the reply to a hit, the hit is sent again and may count twice. Then the limit is reached one hit
 * sooner, never later.
 */
export function createRedisCounters(ask: Ask, prefix: string): Counters {
  const keyOf = (id: string) => `${prefix}${tagged(id)}`

  async function hitAll(hits: readonly CounterHit[], now: number): Promise<Hit> {
    const keys = hits.map(({ id }) => keyOf(id))
    const values = [String(now), ...hits.flatMap(({ rule }) => argumentsOf(rule))]
    return toHit(await ask((client) => runScript(client, keys, values)))
  }

  return {
    hit: (id, rule, now) => hitAll([{ id, rule }], now),

    async hitTogether(hits, now) {
      const { counted, resetsAt } = await hitAll(hits, now)
      return counted ? null : resetsAt
    },

    async forget(ids) {
      await Promise.all(ids.map((id) => ask((client) => client.del(keyOf(id)))))
    },

    // The server drops expired keys.
    prune: async () => 0,
  }
}

/** Runs the script by its digest. A server that lost its scripts gets the text once more. */
async function runScript(client: RedisCommands, keys: readonly string[], values: readonly string[]): Promise<unknown> {
  try {
    return await client.evalsha(hitScriptSha, keys.length, ...keys, ...values)
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error
    return client.eval(hitScript, keys.length, ...keys, ...values)
  }
}

/** The id, with its group in braces if it has one: a cluster keeps keys with the same tag in one slot. */
function tagged(id: string): string {
  const group = counterGroup(id)
  return group === id ? id : `{${group}}${id.slice(group.length)}`
}

/** −1 stands for a part that the rule does not have. */
function argumentsOf({ limit, windowSeconds, waitSeconds = -1, long }: CounterRule): string[] {
  return [limit, windowSeconds, waitSeconds, long?.limit ?? -1, long?.windowSeconds ?? -1].map(String)
}

function toHit(answer: unknown): Hit {
  const [counted, remaining, resetsAt] = Array.isArray(answer) ? answer.map(Number) : []
  if (remaining === undefined || resetsAt === undefined) throw new Error('redis: the script gave no answer.')
  return { counted: counted === 1, remaining, resetsAt }
}
