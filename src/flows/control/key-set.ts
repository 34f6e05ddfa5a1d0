import { AuthError, invalidField } from '../../errors.js'
import type { AuditEvent } from '../../model/audit-event.js'
import type { KeySetCheck, KeySetRules } from '../../model/key-set.js'
import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import { keySetUrlFault, readKeySetRules } from '../../settings/jwks.js'
import { type AccessPorts, changed } from './access-settings.js'
import { requireRoom } from './require-admin.js'

/**
 * Sets the key set that checks tokens of the other issuer. It replaces the one in the settings; null returns to that one. The
 * settings keep the other rules for such tokens.
 *
 * @throws {AuthError} `invalid_request`
 */
export async function changeJwksUrl(
  ports: AccessPorts,
  { url, visitor }: { url: unknown; visitor: Visitor },
): Promise<void> {
  if (url !== null) requireKeySetUrl(ports, url)
  await ports.accessSettings.setJwksUrl(url, keySetChanged(ports, visitor, url))
}

/** The key set of a space. Its rules stand here, because a space has no settings; absent ones have their defaults. */
export interface KeySetChange {
  /** null: the space has none from now on. Rules may not be given then. */
  url: unknown
  issuer?: unknown
  audience?: unknown
  algorithms?: unknown
  exclusive?: unknown
}

/**
 * Sets the key set that checks tokens of another issuer in a space, with all of its rules.
 *
 * @throws {AuthError} `invalid_request`
 */
export async function changeKeySet(
  ports: AccessPorts,
  { change, visitor }: { change: KeySetChange; visitor: Visitor },
): Promise<void> {
  const { url, ...given } = change
  if (url === null) {
    const [named] = Object.entries(given).find(([, value]) => value !== undefined) ?? []
    if (named !== undefined) throw invalidField(named, 'needs a URL')
    await ports.accessSettings.setJwksUrl(null, keySetChanged(ports, visitor, null))
    return
  }
  const rules = requireRules(given)
  requireKeySetUrl(ports, url, rules.audience)
  const { issuer, algorithms, exclusive } = rules
  const facts = {
    algorithms: algorithms.join(' '),
    exclusive,
    issuer: issuer !== null,
    audience: rules.audience.length > 0,
  }
  const event = keySetChanged(ports, visitor, url, facts)
  await ports.accessSettings.setJwksUrl(url, event, rules)
}

function requireRules(given: Omit<KeySetChange, 'url'>): KeySetRules {
  const read = readKeySetRules(given)
  if ('faults' in read) throw new AuthError('invalid_request', { errors: read.faults })
  return read.rules
}

function keySetChanged(
  ports: AccessPorts,
  visitor: Visitor,
  url: string | null,
  facts: AuditEvent['detail'] = {},
): AuditEvent {
  if (url === null) return changed(ports, visitor, { change: 'jwks_url_removed' })
  return changed(ports, visitor, { change: 'jwks_url_set', host: new URL(url).host, ...facts })
}

/**
 * @param audience of a space, `any` where it is not known yet; null: that of the settings
 * @throws {AuthError} `invalid_request` for a URL that the setting `jwks` would not accept
 */
export function requireKeySetUrl(
  { policy }: Pick<Ports, 'policy'>,
  url: unknown,
  audience: readonly string[] | 'any' | null = null,
): asserts url is string {
  if (typeof url !== 'string') throw invalidField('url', 'must be a URL or null')
  const { access } = policy
  const fault = keySetUrlFault(url, audience === null ? access : { ...access, audience })
  if (fault?.part === 'audience') {
    if (audience !== null) throw invalidField('audience', fault.message)
    throw invalidField('url', `needs the setting jwks.audience, which ${fault.message}`)
  }
  if (fault) throw invalidField('url', fault.message)
}

/**
 * Fetches a key set as the guard would and reports what it finds. Nothing is stored.
 *
 * @throws {AuthError} `invalid_request` for a URL that the setting `jwks` would not accept, `rate_limited`
 */
export async function checkKeySetUrl(
  ports: Pick<Ports, 'keySets' | 'limiter' | 'policy' | 'home'>,
  { url, userId }: { url: unknown; userId: string },
): Promise<KeySetCheck> {
  // The audience of a space comes with the change itself.
  requireKeySetUrl(ports, url, ports.home === 'host' ? 'any' : null)
  await requireRoom(ports, 'keySetCheck', userId)
  return ports.keySets.check(url)
}
