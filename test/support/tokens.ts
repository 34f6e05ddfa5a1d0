import type { AccessClaims, RefreshClaims } from '../../src/tokens/access-tokens.js'
import type { TokenSettings } from '../../src/tokens/jwt.js'

/** Secrets and parties of the attack tokens in `test/vectors/jwt-attacks.json`. */
export const tokenSettings: TokenSettings = {
  accessSecrets: ['access-secret-for-tests-only-7f3c9a51d2e84b06a1c5e9f0b3d7264e'],
  refreshSecrets: ['refresh-secret-for-tests-only-b84e1d6075c94f2ea3d80f19c6b2e57a'],
  issuer: 'https://issuer.test',
  audience: 'test-app',
}

export const accessClaims: AccessClaims = {
  sub: 'Zk3vQ0xJ6mT2aB9cDe1fGh',
  sid: 'pL8nM4kS7wR5uY3iO1eAqz',
  ctr: 3,
  ver: 2,
  email: 'alice@example.com',
  email_verified: true,
  roles: ['USER'],
  amr: ['pwd'],
  auth_time: 1_699_999_900,
  iat: 1_699_999_940,
  exp: 1_700_000_840,
}

export const refreshClaims: RefreshClaims = {
  sub: accessClaims.sub,
  sid: accessClaims.sid,
  ctr: 3,
  iat: 1_699_999_940,
  exp: 1_702_591_940,
}
