import { allowNetwork, changeJwksUrl, disallowNetwork, readAccess } from '../flows/control/access-settings.js'
import type { AccessView } from '../model/access.js'
import type { Ports } from '../ports.js'
import { applicationVisitor } from './application-visitor.js'

/**
 * Settings of access that change while the application runs, for its own code. They are stored, for all processes on the
 * store; in force here when the promise resolves, and everywhere within a second.
 */
export interface AccessApi {
  get(): Promise<AccessView>
  /**
   * The key set for tokens of another issuer, in place of the one in the settings; null: theirs again.
   *
   * @throws {AuthError} `invalid_request` for an address that the setting `jwks` would not take
   */
  setJwks(url: string | null): Promise<void>
  /**
   * Lets an address or a network use the API. The first entry shuts everybody else out.
   *
   * @throws {AuthError} `invalid_request`
   * @example await auth.access.allow('192.0.2.0/24')
   */
  allow(ipOrCidr: string): Promise<void>
  /**
   * Takes back what `allow` let in. With the last entry gone everybody may use the API again; nothing asks whether you
   * are sure.
   *
   * @throws {AuthError} `not_found` for what is not on the list, `invalid_request` for what the setting `allowList` fixes
   */
  disallow(ipOrCidr: string): Promise<void>
}

/** `ports` waits for the store to be open; `settled` until what was changed is in force here. */
export function createAccessApi(ports: () => Promise<Ports>, settled: () => Promise<unknown>): AccessApi {
  async function change(step: (ports: Ports) => Promise<void>): Promise<void> {
    await step(await ports())
    await settled()
  }
  const visitor = applicationVisitor
  return {
    get: async () => readAccess(await ports()),
    setJwks: (url) => change((ports) => changeJwksUrl(ports, { url, visitor })),
    allow: (network) => change((ports) => allowNetwork(ports, { network, visitor })),
    disallow: (network) => change((ports) => disallowNetwork(ports, { network, visitor })),
  }
}
