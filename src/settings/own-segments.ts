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
  'password',
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
