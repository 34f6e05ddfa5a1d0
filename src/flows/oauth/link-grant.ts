import type { SessionPrincipal } from '../../model/principal.js'
import { type Asking, requireLinking, type StartLinkPorts } from './link-identity.js'
import { type StartedOAuth, startOAuth } from './start.js'

/** How long the browser has to come to us by itself. */
const grantSeconds = 60

/**
 * Lets whoever is signed in begin to link from a page of another site: what keeps the state with the browser is a Lax
 * cookie, which no answer to such a page can set, so the browser comes here by itself first. What was proved is noted for
 * this session, and the address that leads here holds no secret: it is worth something only in the browser of the session.
 *
 * @throws {AuthError} as `startLink`
 */
export async function grantLink(ports: StartLinkPorts, principal: SessionPrincipal, input: Asking): Promise<void> {
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
 * Sends a browser to the provider whose session was let; each time it was let, once. Null when it was not.
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
