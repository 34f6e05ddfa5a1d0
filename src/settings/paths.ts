import { text } from './field.js'

/** One segment of a path: nothing encoded, no wildcard, no pattern of a router. */
const segment = /^[\w.~@$!+=,-]+$/

/**
 * Reads a path of a setting, such as `/api/v1`: it begins with one slash and does not end with one. Text that two parsers could
 * read differently is refused: dot segments, `//`, encoded characters, a query.
 *
 * @returns the path, `/` for the root, or null
 */
export function parsePath(text: string): string | null {
  if (text === '/') return '/'
  const path = text.replace(/\/$/, '')
  const segments = path.split('/').slice(1)
  const sound =
    path.startsWith('/') && path.length <= 256 && segments.every((part) => segment.test(part) && !/^\.+$/.test(part))
  return sound ? path : null
}

/** Reads an entry of `publicRoutes`: an exact path, whose slash at the end counts, or `/prefix/*`. */
function parsePublicRoute(text: string): string | null {
  if (text === '/') return text
  const bare = text.replace(/\/\*?$/, '')
  return bare !== '/' && parsePath(bare) === bare ? text : null
}

export const path = text('must be a path such as /auth: no dots, nothing encoded, no pattern, no query', (value) =>
  value === '/' ? null : parsePath(value),
)

export const pathPrefix = text(
  'must be a path prefix such as /api: no wildcard, no dots, nothing encoded, no query',
  parsePath,
)

export const publicRoute = text(
  'must be an exact path or /prefix/*: no other wildcard, no dots, nothing encoded',
  parsePublicRoute,
)

/** True when `path` is `prefix` or lies below it; the guard compares without case, and so does this. */
export function isWithin(path: string, prefix: string): boolean {
  const [inner, outer] = [path.toLowerCase(), prefix.toLowerCase()]
  return outer === '/' || inner === outer || inner.startsWith(`${outer}/`)
}

/**
 * How the paths of our own routes begin below `basePath`, besides those of administrators. A test compares the list with the
 * table of routes, which is loaded late and which settings do not know.
 */
export const ownSegments: readonly string[] = [
  'account',
  'assets',
  'dev',
  'docs',
  'email',
  'email-change',
  'email-undo',
  'error',
  'forgot',
  'identities',
  'impersonation',
  'login',
  'logout',
  'me',
  'oauth',
  'oauthcallback',
  'openapi.json',
  'otp',
  'passkeys',
  'password',
  'reauthenticate',
  'refresh',
  'refreshtoken',
  'register',
  'reset',
  'sessions',
  'signed-out',
  'signup',
  'two-factor',
  'verify-email',
]
