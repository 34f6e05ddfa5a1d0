import { inspect } from 'node:util'

/** A logger that has every method anybody could call, and keeps what it was given. */
export function recorder() {
  const lines: unknown[][] = []
  const bound: Record<string, (...line: unknown[]) => void> = {}
  for (const level of ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'log', 'silent', 'child']) {
    bound[level] = (...line) => void lines.push([level, ...line])
  }
  return { lines, logger: { warn: () => {}, error: () => {}, level: 'trace', ...bound } }
}

/** All that can be seen of a value. */
export function show(value: unknown): string {
  return inspect(value, { depth: 20, showHidden: true, getters: true, maxArrayLength: null, maxStringLength: null })
}
