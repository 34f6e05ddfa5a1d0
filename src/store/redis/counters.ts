import type { CounterRule, Hit } from '../../model/counter.js'
import type { Counters } from '../counters.js'
import { hitScript, hitScriptSha } from './hit-script.js'

/** Runs one command on a connection; what fails becomes `store_unavailable`. */
export type Ask = <T>(command: (client: RedisCommands) => Promise<T>) => Promise<T>

/** The commands that counters and wake-ups send: what a user of the server must be allowed. */
export interface RedisCommands {
  evalsha(sha: string, keys: number, ...keysAndArguments: string[]): Promise<unknown>
  eval(script: string, keys: number, ...keysAndArguments: string[]): Promise<unknown>
  del(key: string): Promise<unknown>
}

/**
 * Counters in Redis, one key each. One script call is one hit, so that it is exact without a second round; it names one
 * key, so that it also runs on a cluster. Every key expires by itself a minute after its last window.
 *
 * A hit whose answer is lost with the connection is sent again and may then count twice: the limit is reached one sooner,
 * never later.
 */
export function createRedisCounters(ask: Ask, prefix: string): Counters {
  return {
    async hit(id, rule, now) {
      const values = argumentsOf(rule, now)
      return toHit(await ask((client) => runScript(client, `${prefix}${id}`, values)))
    },

    async forget(ids) {
      await Promise.all(ids.map((id) => ask((client) => client.del(`${prefix}${id}`))))
    },

    // The server drops them.
    prune: async () => 0,
  }
}

/** By its digest; a server that was restarted or whose scripts were flushed is given the text once more. */
async function runScript(client: RedisCommands, key: string, values: readonly string[]): Promise<unknown> {
  try {
    return await client.evalsha(hitScriptSha, 1, key, ...values)
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error
    return client.eval(hitScript, 1, key, ...values)
  }
}

/** −1 stands for what the rule does not have. */
function argumentsOf({ limit, windowSeconds, waitSeconds = -1, long }: CounterRule, now: number): string[] {
  return [now, limit, windowSeconds, waitSeconds, long?.limit ?? -1, long?.windowSeconds ?? -1].map(String)
}

function toHit(answer: unknown): Hit {
  const [counted, remaining, resetsAt] = Array.isArray(answer) ? answer.map(Number) : []
  if (remaining === undefined || resetsAt === undefined) throw new Error('redis: the script gave no answer.')
  return { counted: counted === 1, remaining, resetsAt }
}
