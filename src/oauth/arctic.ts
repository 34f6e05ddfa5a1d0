import type { AuthorizationRequest } from './provider.js'

/** Where the browser is sent, and what the request asks for. */
export interface AuthorizationAddress {
  endpoint: string
  clientId: string
  redirectUri: string
  scopes: readonly string[]
  /** Further parameters that this provider needs. */
  parameters: Readonly<Record<string, string>>
}

/**
 * The URL of an authorization request. Every provider gets the code flow, state and PKCE with S256 (RFC 9700 §2.1.1). The URL
 * holds the challenge, never the verifier.
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
