/**
 * A member of a value that the application, a framework or a driver passed: own or inherited. Undefined for a value without
 * members.
 */
export function memberOf(value: unknown, name: PropertyKey): unknown {
  const holds = (typeof value === 'object' && value !== null) || typeof value === 'function'
  // TypeScript narrows only literal names, so every caller checks the type of the result.
  return holds ? Reflect.get(value, name) : undefined
}

/** Whether it is an object (or a function) with these methods, own or inherited. */
export function hasMethods(value: unknown, names: readonly string[]): value is object {
  return names.every((name) => typeof memberOf(value, name) === 'function')
}
