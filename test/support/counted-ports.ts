import type { BackupPorts } from '../../src/host/flows/backups/ports.js'

/** What reaches the store, the files or the children. */
const names = [
  'data',
  'generations',
  'claims',
  'releases',
  'environment',
  'spaces',
  'removedTokens',
  'children',
] as const
const isOpened = (path: string) => ['data.open', 'data.draft'].includes(path)

/** Runs a call, or does something else in its place. */
export type AroundCall = (call: { number: number; path: string }, run: () => unknown) => unknown

/** The ports, whose calls are counted from 0 on, with those of the data that they open. */
export function countedPorts<P extends BackupPorts>(given: P, around: AroundCall): { ports: P; calls: string[] } {
  const calls: string[] = []

  function counted<Port extends object>(name: string, port: Port): Port {
    return new Proxy(port, {
      get(target, key, receiver) {
        const method: unknown = Reflect.get(target, key, receiver)
        const path = `${name}.${String(key)}`
        if (typeof method === 'object' && method !== null) return counted(path, method)
        if (typeof method !== 'function' || key === 'then') return method
        return (...input: unknown[]) => {
          const number = calls.push(path) - 1
          const answer = around({ number, path }, () => method.apply(target, input))
          if (!(answer instanceof Promise) || !isOpened(path)) return answer
          return answer.then((value) => counted(path, value))
        }
      },
    })
  }

  const ports = Object.fromEntries(names.map((name) => [name, counted(name, given[name])]))
  return { calls, ports: { ...given, ...ports } }
}
