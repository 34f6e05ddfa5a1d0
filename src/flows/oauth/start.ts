import { AuthError } from '../../errors.js'
import type { SessionPrincipal } from '../../model/principal.js'
import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import { readProfile } from '../account/profile.js'
import { requireFresh } from '../account/require-password.js'
import type { PasswordLimitPorts } from '../steps/account-limits.js'
import { browserHandle, keepState, type OAuthState, type OAuthStatePorts } from './state.js'

type StartOAuthPorts = OAuthStatePorts & Pick<Ports, 'providers'>

interface OAuthStart {
  /** As in URLs. */
  provider: string
  /** Where the browser asked to return, checked. */
  returnTo: string | null
  /** The browser's handle of an earlier start. */
  handle: string | null
  link?: NonNullable<OAuthState['link']>
}

interface StartedOAuth {
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

type StartLinkPorts = StartOAuthPorts & PasswordLimitPorts & Pick<Ports, 'sessions' | 'passwords' | 'audit' | 'random'>

/** A change of a user's linked providers, with the proof that the user wants it. */
export interface IdentityRequest {
  provider: string
  /** null if none was given. Then a recent sign-in suffices. */
  password: string | null
  visitor: Visitor
  device: string | null
}

/**
 * Sends a signed-in user to a provider, to add it to the account. Only this browser can finish, and only while this user is
 * signed in with this session.
 *
 * @throws {AuthError} `not_found`, `recent_login_required`, `invalid_credentials`, `rate_limited`, `token_revoked`, `busy`,
 *   `forbidden` for an app without cookies, which has no browser to come back to
 */
export async function startLink(
  ports: StartLinkPorts,
  principal: SessionPrincipal,
  input: IdentityRequest & { returnTo: string | null; handle: string | null },
): Promise<StartedOAuth> {
  const link = await requireLinking(ports, principal, input)
  return startOAuth(ports, { provider: input.provider, returnTo: input.returnTo, handle: input.handle, link })
}

/** Checks what must hold before a browser goes to a provider to link it. @throws as `startLink` */
async function requireLinking(
  ports: StartLinkPorts,
  principal: SessionPrincipal,
  input: IdentityRequest,
): Promise<{ userId: string; sessionId: string }> {
  if (!ports.providers.find(input.provider)) throw new AuthError('not_found')
  const state = await readProfile(ports, principal)
  if (state.session.mode !== 'cookie') throw new AuthError('forbidden')
  await requireFresh(ports, state, { ...input, event: 'identity_linked' })
  return { userId: state.user.id, sessionId: state.session.id }
}

/** How long the browser has to navigate to our origin. */
const grantSeconds = 60

/**
 * Lets a signed-in user begin to link from a page of another site. The state is bound to the browser by a Lax cookie, and
 * browsers do not keep it from a response to such a page. So the browser navigates to our origin first. What the user proved
 * is recorded for this session. The address holds no secret: it works only in the browser of that session.
 *
 * @throws {AuthError} as `startLink`
 */
export async function grantLink(
  ports: StartLinkPorts,
  principal: SessionPrincipal,
  input: IdentityRequest,
): Promise<void> {
  const { userId, sessionId } = await requireLinking(ports, principal, input)
  const now = ports.clock.now()
  const token = {
    id: ports.random.id(),
    purpose: 'oauth_link',
    subject: sessionId,
    userId,
    email: '',
    tokenHash: ports.keyring.digest('oauth_link', grantOf(sessionId, input.provider)),
    codeHash: null,
    handleHash: null,
    payload: null,
    tries: 0,
    createdAt: now,
    expiresAt: now + grantSeconds,
  } as const
  await ports.oneTimeTokens.put(token, null, { keep: 1, now })
}

/**
 * Sends a browser to the provider that its session was granted. A grant works once. Null without a grant.
 *
 * @throws {AuthError} `not_found`
 */
export async function startGrantedLink(
  ports: StartLinkPorts,
  { userId, sessionId }: SessionPrincipal,
  input: { provider: string; returnTo: string | null; handle: string | null },
): Promise<StartedOAuth | null> {
  const hashes = ports.keyring.digests('oauth_link', grantOf(sessionId, input.provider))
  const now = ports.clock.now()
  const token = await ports.oneTimeTokens.findByHash('oauth_link', hashes, now)
  const granted = token && (await ports.oneTimeTokens.claim(token.id, 'oauth_link', 'oauth_linking', now))
  return granted ? startOAuth(ports, { ...input, link: { userId, sessionId } }) : null
}

function grantOf(sessionId: string, provider: string): string {
  return `${sessionId}\n${provider}`
}
