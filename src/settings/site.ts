import { isLoopbackHost, sameOrigins } from '../lib/url.js'
import type { ProviderSettings } from './providers.js'
import type { Table } from './schema.js'

/** The public address of the application. */
export interface Site {
  origin: string
  hostname: string
  /** Path without a slash at the end; mostly empty. */
  urlPath: string
  /** Whether `baseUrl` is http on loopback. No other setting switches development on. */
  development: boolean
  ownOrigins: readonly string[]
}

/** A setting that holds the public address: `baseUrl`, or a `REDIRECT_URI` without the callback route. */
interface Address {
  setting: string
  url: URL
  urlPath: string
}

interface Looking {
  table: Table
  sound(...names: (keyof Table)[]): boolean
  fault(setting: string, message: string): void
}

/**
 * Finds the public address: that of `baseUrl`, or else of a `REDIRECT_URI`. All that are given must agree. Null, with a fault,
 * if it cannot be found.
 */
export function findSite({ table, sound, fault }: Looking): Site | null {
  const base = table.baseUrl && addressAt('baseUrl', table.baseUrl, '')
  const callbacks = sound('basePath') ? callbackAddresses(table, fault) : []
  const [first, ...others] = base ? [base, ...callbacks] : callbacks
  if (!first) {
    const silent = providersOf(table).length === 0 && sound('baseUrl', 'google', 'github', 'oauth')
    if (silent) fault('baseUrl', 'is required, unless a REDIRECT_URI gives it')
    return null
  }

  const site = siteAt(first)
  for (const other of others) {
    if (site.ownOrigins.includes(other.url.origin) && site.urlPath === other.urlPath) continue
    fault(other.setting, `names another origin, or another path before basePath, than ${first.setting}`)
  }
  return sound('baseUrl') ? site : null
}

/** Google and GitHub first, the others in the order in which the application wrote them. */
export function providersOf({ google, github, oauth }: Table): ProviderSettings[] {
  return [...(google ? [google] : []), ...(github ? [github] : []), ...oauth]
}

function callbackAddresses(table: Table, fault: Looking['fault']): Address[] {
  const addresses: Address[] = []
  for (const provider of providersOf(table)) {
    const { name, redirectUri } = provider
    const isOwnSetting = provider === table.google || provider === table.github
    const setting = `${isOwnSetting ? '' : 'oauth.'}${name}.REDIRECT_URI`
    const address = addressAt(setting, new URL(redirectUri), `${table.basePath}/oauthcallback/${name}`)
    if (address) addresses.push(address)
    else fault(setting, `must end in the callback route, that is basePath and /oauthcallback/${name}`)
  }
  return addresses
}

/** The address without the route; null if it does not end with the route. Providers compare every character, so does this. */
function addressAt(setting: string, url: URL, route: string): Address | null {
  if (!url.pathname.endsWith(route)) return null
  const urlPath = url.pathname.slice(0, url.pathname.length - route.length).replace(/\/$/, '')
  return { setting, url, urlPath }
}

function siteAt({ url, urlPath }: Address): Site {
  return {
    origin: url.origin,
    hostname: url.hostname,
    urlPath,
    development: url.protocol === 'http:' && isLoopbackHost(url.hostname),
    ownOrigins: sameOrigins(url.origin),
  }
}
