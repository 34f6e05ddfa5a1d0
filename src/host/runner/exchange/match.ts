/** The parameters of a path that matches, by name; null when it does not. */
export type Match = (pattern: string, path: string) => Readonly<Record<string, string>> | null

interface Compiled {
  regex: RegExp
  /** Of the `:name` parts, in order. A regular expression names its groups itself. */
  names: readonly string[]
}

/**
 * Matches the patterns of codehooks-js against paths without the space and the query. `*` is anything, `:name` is one segment,
 * case does not matter, a slash at the end is optional, nothing is decoded. A regular expression is kept as
 * `{"$regex":"/source/flags"}`.
 *
 * Each pattern is compiled once: routes may be registered at any time.
 */
export function createMatch(): Match {
  const compiled = new Map<string, Compiled>()
  return (pattern, path) => {
    const known = compiled.get(pattern) ?? compile(pattern)
    compiled.set(pattern, known)
    const found = known.regex.exec(path)
    if (!found) return null
    const named = known.names.map((name, index) => [name, found[index + 1] ?? ''])
    return { ...found.groups, ...Object.fromEntries(named) }
  }
}

/** @throws {SyntaxError} for a regular expression that cannot be read */
function compile(pattern: string): Compiled {
  if (pattern.startsWith('{"$regex"')) return { regex: readRegex(pattern), names: [] }
  const names = [...pattern.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
  const source = pattern
    .replace(/\/$/, '')
    .replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&')
    .replaceAll(/:\w+/g, '([^/]+)')
    .replaceAll('*', '.*')
  return { regex: new RegExp(`^${source}/?$`, 'is'), names }
}

function readRegex(pattern: string): RegExp {
  const stored: unknown = JSON.parse(pattern)
  const text = typeof stored === 'object' && stored !== null && '$regex' in stored ? String(stored.$regex) : ''
  const [, source = '', flags = ''] = /^\/(.*)\/([a-z]*)$/s.exec(text) ?? []
  // With `g` or `y` a regular expression remembers where it stopped in another request's path.
  return new RegExp(source, flags.replaceAll(/[gy]/g, ''))
}
