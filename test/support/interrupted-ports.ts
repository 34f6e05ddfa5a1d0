import { storeUnavailable } from '../../src/errors.js'
import type { SpacePorts } from '../../src/host/flows/spaces/ports.js'

/**
 * What happens at one call of a port: the process is killed before it, so no later call does anything either, or this call
 * alone rejects. Before: the call has not happened. After: it has.
 */
export type Interruption = 'killed before' | 'failed before' | 'failed after'

export const interruptions: readonly Interruption[] = ['killed before', 'failed before', 'failed after']

const ports = ['spaces', 'claims', 'releases', 'environment'] as const
/** Its other calls only say where something is. */
const reachingFiles = ['releases', 'remove']
const reachingChildren = ['start', 'stop', 'remove']

/** The ports, interrupted at the call with this number, from 0 on. `calls` names the calls so far. */
export function interrupted<P extends SpacePorts>(
  given: P,
  at: number,
  how: Interruption = 'killed before',
): { ports: P; calls: string[] } {
  const calls: string[] = []

  function wrapped<Port extends object>(name: string, port: Port, reaching: readonly string[] | null): Port {
    return new Proxy(port, {
      get(target, key, receiver) {
        const method: unknown = Reflect.get(target, key, receiver)
        if (typeof method !== 'function' || (reaching && !reaching.includes(String(key)))) return method
        return async (...given: unknown[]) => {
          const number = calls.push(`${name}.${String(key)}`) - 1
          const isKilled = how === 'killed before' && number > at
          if (isKilled || (number === at && how.endsWith('before'))) throw storeUnavailable()
          const answer: unknown = await method.apply(target, given)
          if (number === at) throw storeUnavailable()
          return answer
        }
      },
    })
  }

  const nouns = Object.fromEntries(ports.map((name) => [name, wrapped(name, given[name], null)]))
  return {
    calls,
    ports: {
      ...given,
      ...nouns,
      files: wrapped('files', given.files, reachingFiles),
      children: wrapped('children', given.children, reachingChildren),
    },
  }
}
