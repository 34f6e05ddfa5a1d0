/** A path without text that has a meaning in a cookie's `Path` or at the start of a redirect (`//host`, `;`, `..`). */
const plainPrefix = /^(?:\/[\w~%-][\w.~%-]*)+$/

/**
 * The prefix that a framework removed from the path. Empty when it removed none or rewrote the path, and when the prefix is
 * not plain, because a client may have chosen it.
 *
 * @example mountPrefix('/dev/auth/login', '/auth/login') // '/dev'
 */
export function mountPrefix(fullPath: string, path: string): string {
  const end = fullPath.endsWith(path) ? fullPath.length - path.length : path === '/' ? fullPath.length : 0
  const prefix = fullPath.slice(0, end)
  return plainPrefix.test(prefix) ? prefix : ''
}
