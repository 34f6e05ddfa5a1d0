import { AuthError } from '../../errors.js'
import type { Visitor } from '../../model/visitor.js'
import type { ProviderAccount } from '../../oauth/provider.js'
import type { Ports } from '../../ports.js'
import type { SignInResult } from '../session/sign-in.js'
import { auditEvent } from '../steps/audit.js'
import { ignoreAuthError } from '../steps/ignore-auth-error.js'
import { type EnterPorts, enterByIdentity } from './enter-by-identity.js'
import { type LinkPorts, linkIdentity } from './link-identity.js'
import { type Landing, noteLanding, type OAuthState, takeState } from './state.js'

export type FinishOAuthPorts = EnterPorts & LinkPorts & Pick<Ports, 'providers' | 'tokens' | 'audit'>

/** What came back from a provider, and with it from the browser. Null: not there, or not once. */
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
  /** What the browser holds of its device. */
  device: string | null
}

export interface FinishedOAuth {
  landing: Landing
  /** Who is signed in, or nearly; null: nobody. */
  result: SignInResult | null
  /** What went wrong on our side, or was refused, by name. */
  fault: AuthError | null
}

/**
 * Ends what `startOAuth` began. Whatever comes of it is a landing, also what is refused: a browser that navigates is led
 * on. A failure that the provider had a part in has a code of its own, which no other route answers with.
 *
 * @throws {AuthError} `not_found` for a provider that the settings do not name
 */
export async function finishOAuth(ports: FinishOAuthPorts, input: OAuthReturn): Promise<FinishedOAuth> {
  if (!ports.providers.find(input.provider)) throw new AuthError('not_found')
  return orFailure(null, async () => {
    const taken = await takeState(ports, input)
    if (!taken) return refuse(ports, input, null, 'oauth_state')
    if (taken.kind === 'landed') return { landing: taken.landing, result: null, fault: null }

    const finished = await orFailure(taken.state, () => finish(ports, taken.state, input))
    // Whoever is signed in stays it: only the same callback, come again, has nowhere to land then.
    await ignoreAuthError(noteLanding(ports, taken.id, finished.landing), undefined)
    return finished
  })
}

async function finish(ports: FinishOAuthPorts, state: OAuthState, input: OAuthReturn): Promise<FinishedOAuth> {
  // An error decides, whatever else came with it (RFC 6749 §4.1.2.1).
  if (input.error !== null) {
    return refuse(ports, input, state, input.error === 'access_denied' ? 'oauth_denied' : 'oauth_failed')
  }
  if (state.link && !isSignedIn(ports, state.link, input)) return refuse(ports, input, state, 'oauth_state')
  const account = await identify(ports, state, input)
  if (!account) return refuse(ports, input, state, 'oauth_failed')

  const { provider, visitor, device } = input
  if (state.link) {
    const linked = await linkIdentity(ports, { provider, account, by: state.link, visitor })
    if (linked === 'session_ended') return refuse(ports, input, state, 'oauth_state')
    if (linked === 'identity_taken') return refuse(ports, input, state, linked)
    return { landing: { to: 'linked', returnTo: state.returnTo, code: null }, result: null, fault: null }
  }
  const entry = await enterByIdentity(ports, { provider, account, handle: input.handle ?? '', visitor, device })
  if (entry.kind === 'failure') return refuse(ports, input, state, entry.code, entry.userId)
  if (entry.kind === 'incomplete') {
    return { landing: { to: 'identity', returnTo: state.returnTo, code: null }, result: null, fault: null }
  }
  const to = entry.result.kind === 'session' ? 'success' : 'two_factor'
  return { landing: { to, returnTo: state.returnTo, code: null }, result: entry.result, fault: null }
}

/** Null also for an account that we could not tell from others: databases compare blanks at the end in their own ways. */
async function identify(
  ports: FinishOAuthPorts,
  { verifier, nonce }: OAuthState,
  { provider, code, issuer }: OAuthReturn,
): Promise<ProviderAccount | null> {
  if (code === null) return null
  const account = await ports.providers.find(provider)?.identify({ code, verifier, nonce, issuer })
  return account && /^(?! )[^\p{C}]{1,255}(?<! )$/u.test(account.id) ? account : null
}

/**
 * Whether the browser is signed in as exactly that user in that session. Otherwise somebody could begin a link in their own
 * account and let another person's browser finish it, or the other way round (ATK-095; RFC 9700 §4.7.1).
 */
function isSignedIn(
  ports: Pick<Ports, 'tokens'>,
  link: NonNullable<OAuthState['link']>,
  { accessToken, refreshToken }: OAuthReturn,
): boolean {
  const access = accessToken === null ? [] : [ports.tokens.checkAccess(accessToken)]
  const refresh = refreshToken === null ? [] : [ports.tokens.checkRefresh(refreshToken)]
  const held = [...access, ...refresh]
  return held.length > 0 && held.every((claims) => claims?.sub === link.userId && claims.sid === link.sessionId)
}

/** Written down as a sign-in that failed (ASVS 5.0, 16.3.1). */
async function refuse(
  ports: FinishOAuthPorts,
  { provider, visitor }: OAuthReturn,
  state: OAuthState | null,
  code: string,
  userId = state?.link?.userId ?? null,
): Promise<FinishedOAuth> {
  const detail = { method: `oauth:${provider}`, reason: code }
  const facts = { userId, outcome: 'failure', detail } as const
  await ports.audit.record(auditEvent(ports, 'login', visitor, facts))
  return { landing: failure(state, code), result: null, fault: null }
}

async function orFailure(state: OAuthState | null, run: () => Promise<FinishedOAuth>): Promise<FinishedOAuth> {
  try {
    return await run()
  } catch (fault) {
    if (!(fault instanceof AuthError)) throw fault
    return { landing: failure(state, fault.code), result: null, fault }
  }
}

/** Whoever is signed in reads it on the page where they began. */
function failure(state: OAuthState | null, code: string): Landing {
  return { to: state?.link && code !== 'oauth_state' ? 'account' : 'failure', returnTo: state?.returnTo ?? null, code }
}
