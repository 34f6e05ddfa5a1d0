import { allowNetwork, disallowNetwork, readAccess } from '../flows/control/access-settings.js'
import { changeJwksUrl } from '../flows/control/key-set.js'
import type { AccessView } from '../model/access.js'
import type { Ports } from '../ports.js'
import { applicationVisitor } from './application-visitor.js'

/**
 * Access settings that change while the application runs, for its own code. They are stored for all processes on the store.
 * A change applies in this process when the promise resolves, and everywhere within a second.
 */
export interface AccessApi {
  get(): Promise<AccessView>
  /**
   * Sets a key set for tokens of another issuer, which replaces the one in the settings; null returns to that one.
   *
   * @throws {AuthError} `invalid_request` for a URL that the setting `jwks` would not accept
   */
  setJwks(url: string | null): Promise<void>
  /**
   * Allows an address or a network to use the API. The first entry excludes all other addresses.
   *
   * @throws {AuthError} `invalid_request`
   * @example await auth.access.allow('192.0.2.0/24')
   */
  allow(ipOrCidr: string): Promise<void>
  /**
   * Removes an entry that `allow` added. Without entries every address may use the API again, and there is no confirmation.
   *
   * @throws {AuthError} `not_found` for an entry that is not on the list, `invalid_request` for one of the setting `allowList`
   */
  disallow(ipOrCidr: string): Promise<void>
}

/** `ports` waits for the store to be open. */
export function createAccessApi(ports: () => Promise<Ports>): AccessApi {
  const visitor = applicationVisitor
  return {
    get: async () => readAccess(await ports()),
    setJwks: async (url) => changeJwksUrl(await ports(), { url, visitor }),
    allow: async (network) => allowNetwork(await ports(), { network, visitor }),
    disallow: async (network) => disallowNetwork(await ports(), { network, visitor }),
  }
}
