/** With at least one segment of its own: `/api/*` is what the guard itself stands at. */
export function isStrictlyBelow(pattern: string, prefix: string): boolean {
  const base = prefix === '/' ? '/' : `${prefix}/`
  return pattern.toLowerCase().startsWith(base) && /^[^*/]/.test(pattern.slice(base.length))
}

/** As the platform matches: letters in either case, `*` is anything, `:name` one segment, a slash at the end may be there. */
export function toRegex(pattern: string): RegExp {
  const source = pattern
    .replace(/\/$/, '')
    .replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&')
    .replaceAll(/:\w+/g, '[^/]+')
    .replaceAll('*', '.*')
  return new RegExp(`^${source}/?$`, 'i')
}
