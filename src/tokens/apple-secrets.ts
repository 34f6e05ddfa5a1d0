import { createPrivateKey } from 'node:crypto'
import { nowSeconds, type World } from '../lib/runtime.js'
import type { AppleKey } from '../settings.js'

/** Apple allows six months; made anew for each request, minutes are enough. */
const lifetimeSeconds = 5 * 60

/**
 * Makes what Apple takes for a client secret: a JWT signed with the key of the team (Apple, "Creating a client secret").
 */
export function createAppleSecrets(world: Pick<World, 'now'>): (key: AppleKey, clientId: string) => Promise<string> {
  return async ({ teamId, keyId, privateKey }, clientId) => {
    const { SignJWT } = await import('jose')
    const now = nowSeconds(world)
    return new SignJWT()
      .setProtectedHeader({ alg: 'ES256', kid: keyId })
      .setIssuer(teamId)
      .setSubject(clientId)
      .setAudience('https://appleid.apple.com')
      .setIssuedAt(now)
      .setExpirationTime(now + lifetimeSeconds)
      .sign(createPrivateKey(privateKey))
  }
}
