import type { SettingsFault } from '../errors.js'
import { memberOf } from '../lib/members.js'

/** Objects of the application, by their setting. They are never copied, frozen or read. */
const foreignPlaces = ['database', 'redis', 'mail.transport', 'registration.fields', 'logger', 'authenticate']
const maxDepth = 6

export interface Snapshot {
  values: Readonly<Record<string, unknown>>
  /** The application's objects among them. */
  foreign: ReadonlySet<unknown>
}

/**
 * Copies the settings of the application. Each property is read once, so that a getter cannot return one value to the check and
 * another one later. Only own properties count, and `undefined` means not given. The copies have no prototype, so they inherit
 * nothing from a polluted one.
 */
export function snapshot(input: object, faults: SettingsFault[]): Snapshot {
  const foreign = new Set<unknown>()

  function copy(value: unknown, path: readonly string[]): unknown {
    if (typeof value !== 'object' || value === null) return value
    if (path.length > maxDepth) return null
    if (isForeign(path)) {
      foreign.add(value)
      return value
    }
    if (Array.isArray(value)) return Array.from(value, (item: unknown, index) => copy(item, [...path, String(index)]))
    return copyObject(value, path)
  }

  function copyObject(value: object, path: readonly string[]): Record<string, unknown> {
    const result: Record<string, unknown> = Object.create(null)
    for (const name of Object.keys(value)) {
      const place = [...path, name]
      try {
        const copied = copy(memberOf(value, name), place)
        if (copied !== undefined) result[name] = copied
      } catch {
        faults.push({ setting: dotted(place), message: 'could not be read: its getter throws' })
      }
    }
    return result
  }

  return { values: copyObject(input, []), foreign }
}

/** Deep-freezes our copies. The application's own objects stay as they are. */
export function freeze<Value>(value: Value, foreign: ReadonlySet<unknown>): Value {
  if (typeof value !== 'object' || value === null || foreign.has(value) || Object.isFrozen(value)) return value
  for (const inner of Object.values(value)) freeze(inner, foreign)
  return Object.freeze(value)
}

/** A setting's name as messages write it. Names come from the application too, so they are kept to one line. */
export function dotted(path: readonly PropertyKey[]): string {
  return path
    .map((part) =>
      String(part)
        .replace(/[^\w$-]/g, '?')
        .slice(0, 64),
    )
    .join('.')
}

function isForeign(path: readonly string[]): boolean {
  return foreignPlaces.includes(path.join('.'))
}
