import { createPrivateKey } from 'node:crypto'
import { nowSeconds, type World } from '../lib/runtime.js'
import type { SignClientAssertion } from '../model/client-assertion.js'

/** Signs the JWTs that some providers use as client secrets. */
export function createClientAssertions(world: Pick<World, 'now'>): SignClientAssertion {
  return async ({ privateKey, keyId, issuer, subject, audience, lifetimeSeconds }) => {
    const { SignJWT } = await import('jose')
    const now = nowSeconds(world)
    return new SignJWT()
      .setProtectedHeader({ alg: 'ES256', kid: keyId })
      .setIssuer(issuer)
      .setSubject(subject)
      .setAudience(audience)
      .setIssuedAt(now)
      .setExpirationTime(now + lifetimeSeconds)
      .sign(createPrivateKey(privateKey))
  }
}
