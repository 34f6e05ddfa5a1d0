const deepest = 16

/**
 * A copy of plain data, deeply frozen, so that the caller can no longer change it. Only what JSON could hold is accepted.
 *
 * @throws {TypeError} for anything else: functions, dates, instances, cycles
 */
function plainCopy(value: unknown, depth = 0): unknown {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number' && Number.isFinite(value)) return value
  if (typeof value !== 'object' || depth === deepest) throw new TypeError('not plain data')
  if (Array.isArray(value)) return Object.freeze(value.map((item) => plainCopy(item, depth + 1)))
  return plainRecord(value, depth)
}

/**
 * The same for an object. Members that are undefined are left out, as JSON does it.
 *
 * @throws {TypeError}
 */
export function plainRecord(value: unknown, depth = 0): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new TypeError('not plain data')
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) throw new TypeError('not plain data')
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return Object.freeze(Object.fromEntries(members.map(([name, member]) => [name, plainCopy(member, depth + 1)])))
}
