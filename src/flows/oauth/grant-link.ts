import type { SessionPrincipal } from '../../model/principal.js'
import { type StartedOAuth, startOAuth } from './start.js'
import { type IdentityRequest, requireLinking, type StartLinkPorts } from './start-link.js'

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
