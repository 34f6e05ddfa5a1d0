import { z } from 'zod'
import { isSecureUrl, parseHttpUrl, parseOrigin } from '../lib/url.js'
import { text } from './field.js'
import { parsePath } from './paths.js'
import { isUnexpanded } from './secrets.js'

/** Where the application stands. A cookie or a mailed link over plain http is anybody's, so http is for loopback. */
export const baseUrl = text(
  'must be an https URL (http on loopback only) without query, fragment and password',
  (value) => {
    const url = parseHttpUrl(value)
    return url !== null && isSecureUrl(url) && !/[?#]/.test(value) && parsePath(url.pathname) !== null ? url : null
  },
)

/** An origin that browsers may call us from. */
export const trustedOrigin = text(
  'must be an origin such as https://spa.example.com: https (http on loopback), no path, no wildcard, not null',
  (value) => {
    const origin = parseOrigin(value)
    return origin !== null && isSecureUrl(new URL(origin)) ? origin : null
  },
)

const credential = text('must not be empty, blank or a placeholder', (value) =>
  value === '' || value !== value.trim() || /\p{Cc}/u.test(value) || isUnexpanded(value) ? null : value,
)

const redirectUri = text(
  'must be the full https address (http on loopback) of the callback route, without query and fragment',
  (value) => {
    const url = parseHttpUrl(value)
    return url !== null && isSecureUrl(url) && !/[?#]/.test(value) ? value : null
  },
)

export interface OAuthCredentials {
  clientId: string
  clientSecret: string
  redirectUri: string
}

/** What an OAuth provider gave the application. */
export const oauthCredentials = z
  .strictObject({ CLIENT_ID: credential, CLIENT_SECRET: credential, REDIRECT_URI: redirectUri })
  .transform(
    (given): OAuthCredentials => ({
      clientId: given.CLIENT_ID,
      clientSecret: given.CLIENT_SECRET,
      redirectUri: given.REDIRECT_URI,
    }),
  )

/** Further providers: name to arctic provider or OpenID issuer. */
export const oauth = z.record(
  z.string().regex(/^(?!(?:google|github)$)[a-z][a-z0-9-]{0,31}$/),
  z.custom<string | object>(
    (value) => {
      if (typeof value !== 'string') return typeof value === 'object' && value !== null
      const url = parseHttpUrl(value)
      return url !== null && isSecureUrl(url)
    },
    { error: 'must be an arctic provider or the https URL of an OpenID issuer' },
  ),
  {
    error: (issue) =>
      issue.code === 'invalid_key'
        ? 'must be lower-case letters, digits and hyphens, and not google or github, which are settings of their own'
        : undefined,
  },
)
