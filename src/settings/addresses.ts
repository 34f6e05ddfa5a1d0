import { isIP } from 'node:net'
import { isPublicAddress } from '../lib/public-address.js'
import { isLoopbackHost, isSecureUrl, parseHttpUrl, parseOrigin } from '../lib/url.js'
import { text } from './field.js'
import { parsePath } from './paths.js'

/** The URL of the application. Anyone on the network can read cookies and links sent over http, so only loopback may use it. */
export const baseUrl = text(
  'must be an https URL (http on loopback only) without query, fragment and password',
  (value) => {
    const url = parseHttpUrl(value)
    return url !== null && isSecureUrl(url) && !/[?#]/.test(value) && parsePath(url.pathname) !== null ? url : null
  },
  baseUrlFault,
)

/** A sentence that says what to write instead. It never quotes the value. */
function baseUrlFault(value: string): string {
  const url = parseHttpUrl(value)
  if (url !== null && !isSecureUrl(url)) return plainHttpFault(url.hostname)
  if (url === null && !value.includes('://')) {
    const bare = parseHttpUrl(`http://${value.replace(/^\/\//, '')}`)
    if (bare !== null && (isLoopbackHost(bare.hostname) || isAnyAddress(bare.hostname))) {
      return 'has no scheme. Write http:// in front: http://localhost:3000'
    }
    if (bare !== null) return 'has no scheme. Write https:// in front: https://app.example.com'
  }
  return 'must be an https URL (http on loopback only) without query, fragment and password'
}

function plainHttpFault(hostname: string): string {
  if (isAnyAddress(hostname)) {
    return 'names the address that the server listens on. Write the one that browsers open: http://localhost:3000'
  }
  if (isLocalNetwork(hostname)) {
    return 'has http with an address of the local network. Write http://localhost:3000 to use it on this machine only, or https:// with a certificate or a tunnel to reach it from other devices'
  }
  return 'must begin with https://. http is for localhost, 127.0.0.1 and [::1] only'
}

/** 0.0.0.0 and [::]: servers listen on them, but not every browser can open them. */
function isAnyAddress(hostname: string): boolean {
  return hostname === '0.0.0.0' || hostname === '[::]'
}

/** A private address, or a name that only the local network knows. */
function isLocalNetwork(hostname: string): boolean {
  const address = hostname.replace(/^\[|\]$/g, '')
  if (isIP(address) !== 0) return !isPublicAddress(address)
  return !hostname.includes('.') || hostname.endsWith('.local')
}

/** An origin that browsers may call us from. */
export const trustedOrigin = text(
  'must be an origin such as https://spa.example.com: https (http on loopback), no path, no wildcard, not null',
  (value) => {
    const origin = parseOrigin(value)
    return origin !== null && isSecureUrl(new URL(origin)) ? origin : null
  },
)
