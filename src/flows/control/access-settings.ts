import { AuthError } from '../../errors.js'
import { parseCidr } from '../../lib/ip-address.js'
import type { AccessView } from '../../model/access.js'
import type { AuditEvent } from '../../model/audit-event.js'
import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import { keySetUrlFault } from '../../settings/jwks.js'
import { auditEvent } from '../steps/audit.js'

export type AccessPorts = Pick<Ports, 'accessSettings' | 'clock' | 'random' | 'policy'>

/** Settings of access as they are in the store now, with those that the application's own settings fix. */
export async function readAccess({ accessSettings, policy }: AccessPorts): Promise<AccessView> {
  const { jwksUrl, networks } = await accessSettings.read()
  const { access } = policy
  return {
    jwksUrl: jwksUrl ?? access.jwksUrl,
    fixedJwksUrl: access.jwksUrl,
    allowList: { fixed: [...access.networks], added: networks },
  }
}

/**
 * Lets an address or a network use the API; the first one shuts all others out. One that is there already stays.
 *
 * @throws {AuthError} `invalid_request`
 */
export async function allowNetwork(ports: AccessPorts, input: { network: unknown; visitor: Visitor }): Promise<void> {
  const network = requireNetwork(input.network)
  if (!ports.policy.access.knowsClients) {
    throw invalid('network', 'needs trustedProxies to be CIDRs: a count cannot tell who sent the header')
  }
  if (ports.policy.access.networks.includes(network)) return
  await ports.accessSettings.addNetwork(network, changed(ports, input.visitor, { change: 'network_added', network }))
}

/**
 * Takes back what `allowNetwork` let in, by the very network. With the last one everybody may use the API again: whoever
 * offers this to a person asks first.
 *
 * @throws {AuthError} `invalid_request`, also for what the settings fix; `not_found` for what is not on the list
 */
export async function disallowNetwork(
  ports: AccessPorts,
  input: { network: unknown; visitor: Visitor },
): Promise<void> {
  const network = requireNetwork(input.network)
  if (ports.policy.access.networks.includes(network)) {
    throw invalid('network', 'is fixed by the setting allowList and can only be taken out there')
  }
  const event = changed(ports, input.visitor, { change: 'network_removed', network })
  if (!(await ports.accessSettings.removeNetwork(network, event))) throw new AuthError('not_found')
}

/**
 * Sets the key set that tokens of the other issuer are checked by, in place of the one in the settings; null: theirs
 * again. What tokens must be besides, the settings say.
 *
 * @throws {AuthError} `invalid_request`
 */
export async function changeJwksUrl(
  ports: AccessPorts,
  { url, visitor }: { url: unknown; visitor: Visitor },
): Promise<void> {
  if (url !== null) requireKeySetUrl(ports, url)
  const host = typeof url === 'string' ? { host: new URL(url).host } : {}
  const event = changed(ports, visitor, { change: url === null ? 'jwks_url_removed' : 'jwks_url_set', ...host })
  await ports.accessSettings.setJwksUrl(url, event)
}

function requireKeySetUrl({ policy }: AccessPorts, url: unknown): asserts url is string {
  if (typeof url !== 'string') throw invalid('url', 'must be a URL or null')
  const fault = keySetUrlFault(url, policy.access)
  if (fault?.part === 'audience') throw invalid('url', `needs the setting jwks.audience, which ${fault.message}`)
  if (fault) throw invalid('url', fault.message)
}

function requireNetwork(text: unknown): string {
  const network = parseCidr(text)?.text
  if (network === undefined) throw invalid('network', 'must be an IP address or a CIDR')
  return network
}

function invalid(path: string, message: string): AuthError {
  return new AuthError('invalid_request', { errors: [{ path, message }] })
}

function changed(ports: AccessPorts, visitor: Visitor, detail: AuditEvent['detail']): AuditEvent {
  return auditEvent(ports, 'access_changed', visitor, { detail })
}
