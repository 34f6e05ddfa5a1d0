import { AuthError, invalidField } from '../../errors.js'
import { parseCidr } from '../../lib/ip-address.js'
import { createAllowRule } from '../../lib/ip-ranges.js'
import type { AccessView } from '../../model/access.js'
import type { AuditEvent } from '../../model/audit-event.js'
import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import { auditEvent } from '../steps/audit.js'

export type AccessPorts = Pick<Ports, 'accessSettings' | 'clock' | 'random' | 'policy'>

/** The stored access settings, with those that the application's own settings fix. */
export async function readAccess({ accessSettings, policy }: AccessPorts): Promise<AccessView> {
  const { jwksUrl, jwksRules, networks } = await accessSettings.read()
  const { access } = policy
  return {
    jwksUrl: jwksUrl ?? access.jwksUrl,
    fixedJwksUrl: access.jwksUrl,
    ...(jwksRules && { jwksRules }),
    allowList: { fixed: [...access.networks], added: networks },
  }
}

/** A change of the allow-list by hand: it may not exclude the client that asks, unless that client says so. */
export interface NetworkChange {
  network: unknown
  visitor: Visitor
  /** The request may exclude the client's own address. Then `confirm` repeats that address. */
  force?: boolean | undefined
  /** The client's own address, or `everyone` to open the API to every address. */
  confirm?: string | undefined
}

/**
 * Allows an address or a network to use the API; the first one excludes all others. An existing entry stays.
 *
 * @throws {AuthError} `invalid_request`; `would_lock_out` when `accept` refuses the list
 */
export async function allowNetwork(
  ports: AccessPorts,
  input: NetworkChange,
  accept: (networks: readonly string[]) => boolean = always,
): Promise<void> {
  const network = requireNetwork(input.network)
  if (!ports.policy.access.knowsClients) {
    throw invalidField('network', 'needs trustedProxies to be CIDRs: a count cannot tell who sent the header')
  }
  if (ports.policy.access.networks.includes(network)) return
  const event = changed(ports, input.visitor, { change: 'network_added', network })
  const outcome = await ports.accessSettings.addNetwork(network, event, accept)
  if (outcome === 'refused') throw new AuthError('would_lock_out')
}

/**
 * Removes an entry that `allowNetwork` added; it must be the same network. Without entries every address may use the API
 * again, so a user interface should ask for confirmation.
 *
 * @throws {AuthError} `invalid_request`, also for an entry of the settings; `not_found` for one that is not on the list;
 *   `would_lock_out`
 */
export async function disallowNetwork(
  ports: AccessPorts,
  input: NetworkChange,
  accept: (networks: readonly string[]) => boolean = always,
): Promise<void> {
  const network = requireNetwork(input.network)
  if (ports.policy.access.networks.includes(network)) {
    throw invalidField('network', 'is fixed by the setting allowList and can only be taken out there')
  }
  const event = changed(ports, input.visitor, { change: 'network_removed', network })
  const outcome = await ports.accessSettings.removeNetwork(network, event, accept)
  if (outcome === 'unchanged') throw new AuthError('not_found')
  if (outcome === 'refused') throw new AuthError('would_lock_out')
}

/** Like `allowNetwork`, for an administrator: the list must still contain the administrator's own address. */
export function allowNetworkSafely(ports: AccessPorts, change: NetworkChange): Promise<void> {
  return allowNetwork(ports, change, keepsOwnAddress(ports, change))
}

/** Like `disallowNetwork`, for an administrator. Removing the last entry needs `confirm: 'everyone'`. */
export function disallowNetworkSafely(ports: AccessPorts, change: NetworkChange): Promise<void> {
  const keeps = keepsOwnAddress(ports, change)
  const opens = (networks: readonly string[]) => networks.length + ports.policy.access.networks.length === 0
  return disallowNetwork(ports, change, (networks) => {
    return opens(networks) ? change.confirm === 'everyone' : keeps(networks)
  })
}

function keepsOwnAddress({ policy }: AccessPorts, { visitor, force, confirm }: NetworkChange) {
  return (added: readonly string[]): boolean => {
    if (createAllowRule([...policy.access.networks, ...added], policy.access)(visitor.ip)) return true
    return force === true && visitor.ip !== null && confirm === visitor.ip
  }
}

/** For the application's own code, which has no address. */
function always(): boolean {
  return true
}

function requireNetwork(text: unknown): string {
  const network = parseCidr(text)?.text
  if (network === undefined) throw invalidField('network', 'must be an IP address or a CIDR')
  return network
}

/** The event of a change of access settings. */
export function changed(ports: AccessPorts, visitor: Visitor, detail: AuditEvent['detail']): AuditEvent {
  return auditEvent(ports, 'access_changed', visitor, { detail })
}
