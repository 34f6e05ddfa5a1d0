import { isSecureUrl, parseHttpUrl } from '../lib/url.js'
import { controlPath } from '../model/control-path.js'
import { usage } from './tool-error.js'

/** Where an application is, and its control API. */
export interface Address {
  /** As people name it: `https://api.example.org`, with a path if it was given. */
  site: string
  /** `…/auth`: sign-in, refresh and sign-out. */
  auth: string
  /** `…/auth/admin/api`. Saved sign-ins are kept by this URL. */
  api: string
}

/**
 * Reads the URL of an application. A URL without a path means `<url>/auth`, one with a path is the `basePath` itself.
 *
 * @throws {ToolError} usage, for another scheme, for http off loopback, and for a URL with a query or a user name
 * @example parseAddress('https://api.example.org').api // 'https://api.example.org/auth/admin/api'
 */
export function parseAddress(text: string): Address {
  const url = parseHttpUrl(text.trim())
  if (url === null || url.search !== '' || url.hash !== '') {
    throw usage(`This is no URL of an application: ${text}. Give one like https://api.example.org`)
  }
  if (!isSecureUrl(url)) throw usage(`${url.origin} has no TLS. Use https: off this machine.`)
  const path = url.pathname.replace(/\/+$/, '')
  const auth = path === '' ? `${url.origin}/auth` : `${url.origin}${path}`
  return { site: `${url.origin}${path}`, auth, api: `${auth}${controlPath}` }
}
