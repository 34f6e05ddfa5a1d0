import { AuthError } from '../../errors.js'
import type { Ports } from '../../ports.js'
import { browserHandle, keepState, type OAuthState, type OAuthStatePorts } from './state.js'

export type StartOAuthPorts = OAuthStatePorts & Pick<Ports, 'providers'>

export interface OAuthStart {
  /** As in URLs. */
  provider: string
  /** Where the browser asked to return, checked. */
  returnTo: string | null
  /** The browser's handle of an earlier start. */
  handle: string | null
  link?: NonNullable<OAuthState['link']>
}

export interface StartedOAuth {
  /** Where the browser must go; null when the provider does not answer. */
  url: string | null
  /** The browser keeps it. The callback needs it. */
  handle: string
}

/**
 * Sends a browser to a provider: a state, a PKCE verifier and a nonce of its own for each time (RFC 9700 §2.1.1). The
 * verifier stays here, sealed.
 *
 * @throws {AuthError} `not_found` for a provider that the settings do not name
 */
export async function startOAuth(ports: StartOAuthPorts, input: OAuthStart): Promise<StartedOAuth> {
  const provider = ports.providers.find(input.provider)
  if (!provider) throw new AuthError('not_found')
  const handle = browserHandle(ports, input.handle)
  const [secret, verifier, nonce] = [ports.random.token(), ports.random.token(), ports.random.token()]
  const url = await provider.authorizationUrl({ state: secret, verifier, nonce })
  if (url === null) return { url, handle }

  const { returnTo, link = null } = input
  await keepState(ports, handle, secret, { provider: provider.name, verifier, nonce, returnTo, link })
  return { url, handle }
}
