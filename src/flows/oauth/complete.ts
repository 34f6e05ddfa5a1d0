import { signedInVisitor, type Visitor } from '../../model/visitor.js'
import type { ProviderAccount } from '../../oauth/provider.js'
import type { Ports } from '../../ports.js'
import { type EnterPorts, type Entry, enterByIdentity } from './enter-by-identity.js'
import { isBrowserOf, type LinkIdentityPorts, linkIdentity } from './link-identity.js'
import type { OAuthState } from './state.js'

export type CompleteOAuthPorts = EnterPorts & LinkIdentityPorts & Pick<Ports, 'tokens'>

/** The provider's answer, with what the browser sent. Null: missing, or sent more than once. */
export interface OAuthReturn {
  provider: string
  state: string | null
  code: string | null
  error: string | null
  /** RFC 9207 */
  issuer: string | null
  handle: string | null
  accessToken: string | null
  refreshToken: string | null
  visitor: Visitor
  /** The browser's device secret. */
  device: string | null
  /** What the browser holds of a sign-in that waits for its second step. */
  challenge: string | null
}

/** How a return from a provider ends. */
export type Completed = Entry | { kind: 'linked' } | Unfinished

interface Unfinished {
  kind: 'failure'
  code: 'oauth_denied' | 'oauth_failed' | 'oauth_state' | 'identity_taken'
  userId?: string
  mail?: null
}

/**
 * Completes what the browser went to the provider for: signs in, or links the provider to an account.
 *
 * @throws {AuthError} as `enterByIdentity`
 */
export async function completeOAuth(
  ports: CompleteOAuthPorts,
  state: OAuthState,
  input: OAuthReturn,
): Promise<Completed> {
  // An error decides, whatever else came with it (RFC 6749 §4.1.2.1).
  if (input.error !== null) {
    return { kind: 'failure', code: input.error === 'access_denied' ? 'oauth_denied' : 'oauth_failed' }
  }
  if (state.link && !isBrowserOf(ports, state.link, input)) return { kind: 'failure', code: 'oauth_state' }
  const account = await identify(ports, state, input)
  if (!account) return { kind: 'failure', code: 'oauth_failed' }

  const { provider, visitor, device, challenge } = input
  if (state.link) {
    const linked = await linkIdentity(ports, state.link, {
      provider,
      account,
      visitor: signedInVisitor(visitor, state.link),
    })
    return linked === 'linked' ? { kind: linked } : { kind: 'failure', code: linked }
  }
  return enterByIdentity(ports, { provider, account, handle: input.handle ?? '', visitor, device, challenge })
}

/** Null also for an ambiguous id: databases compare trailing blanks in their own ways. */
async function identify(
  ports: Pick<Ports, 'providers'>,
  { verifier, nonce }: OAuthState,
  { provider, code, issuer }: OAuthReturn,
): Promise<ProviderAccount | null> {
  if (code === null) return null
  const account = await ports.providers.find(provider)?.identify({ code, verifier, nonce, issuer })
  return account && /^(?! )[^\p{C}]{1,255}(?<! )$/u.test(account.id) ? account : null
}
