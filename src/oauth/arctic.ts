import type { AuthorizationRequest } from './provider.js'

/** Where a browser is sent, and what is asked for there. */
export interface AuthorizationAddress {
  endpoint: string
  clientId: string
  redirectUri: string
  scopes: readonly string[]
  /** What this provider wants besides. */
  parameters: Readonly<Record<string, string>>
}

/**
 * An authorization request as an address: code flow, state and PKCE with S256 for every provider (RFC 9700 §2.1.1); the
 * verifier itself is not in it.
 */
export async function authorizationAddress(
  { endpoint, clientId, redirectUri, scopes, parameters }: AuthorizationAddress,
  { state, verifier }: Pick<AuthorizationRequest, 'state' | 'verifier'>,
): Promise<string> {
  const { CodeChallengeMethod, OAuth2Client } = await import('arctic')
  const client = new OAuth2Client(clientId, null, redirectUri)
  const url = client.createAuthorizationURLWithPKCE(endpoint, state, CodeChallengeMethod.S256, verifier, [...scopes])
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return url.href
}
