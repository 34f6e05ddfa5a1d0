import { isSecureUrl, parseHttpUrl, parseOrigin } from '../lib/url.js'
import { text } from './field.js'
import { parsePath } from './paths.js'

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
