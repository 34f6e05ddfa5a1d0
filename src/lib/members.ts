/**
 * A member of a value that the application, a framework or a driver handed over: own or inherited, as it would read it
 * itself. Undefined for what has no members.
 */
export function memberOf(value: unknown, name: PropertyKey): unknown {
  const holds = (typeof value === 'object' && value !== null) || typeof value === 'function'
  // TypeScript narrows no name that is not a literal; every caller checks the type of what comes back.
  return holds ? Reflect.get(value, name) : undefined
}

/** Whether it is an object (or a function) with these methods, own or inherited. */
export function hasMethods(value: unknown, names: readonly string[]): value is object {
  return names.every((name) => typeof memberOf(value, name) === 'function')
}
