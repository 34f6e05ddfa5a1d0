/** Nothing that would mean more than a path in a cookie's `Path` or at the start of a redirect (`//host`, `;`, `..`). */
const plainPrefix = /^(?:\/[\w~%-][\w.~%-]*)+$/

/**
 * What a framework took off the front of the path; empty when it took nothing, or rewrote the path, or when what it
 * took is not plain: a client may have chosen it.
 *
 * @example mountPrefix('/dev/auth/login', '/auth/login') // '/dev'
 */
export function mountPrefix(fullPath: string, path: string): string {
  const end = fullPath.endsWith(path) ? fullPath.length - path.length : path === '/' ? fullPath.length : 0
  const prefix = fullPath.slice(0, end)
  return plainPrefix.test(prefix) ? prefix : ''
}
