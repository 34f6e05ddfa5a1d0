import type { KeySetCheck } from '../../model/key-set.js'
import type { Ports } from '../../ports.js'
import { requireKeySetUrl } from './access-settings.js'
import { requireRoom } from './require-admin.js'

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
