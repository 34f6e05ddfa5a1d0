import { AuthError } from '../../errors.js'
import { limitKey } from '../../lib/ip-address.js'
import { signedInVisitor, type Visitor } from '../../model/visitor.js'
import type { ProviderAccount } from '../../oauth/provider.js'
import type { Ports } from '../../ports.js'
import type { SignInResult } from '../session/sign-in.js'
import { auditEvent } from '../steps/audit.js'
import { ignoreAuthError } from '../steps/run-hook.js'
import { type EnterPorts, type Entry, enterByIdentity } from './enter-by-identity.js'
import { isBrowserOf, type LinkIdentityPorts, linkIdentity } from './link-identity.js'
import { type Landing, noteLanding, type OAuthState, takeState } from './state.js'

type FinishOAuthPorts = CompleteOAuthPorts & Pick<Ports, 'audit' | 'limiter'>

interface FinishedOAuth {
  landing: Landing
  /** The sign-in, which may still need a second factor. Null without one. */
  result: SignInResult | null
  /** The fault on our side, or the refusal. */
  fault: AuthError | null
}

/**
 * Ends what `startOAuth` began. Every outcome is a landing, also a refusal, because a browser that navigates is redirected. A
 * failure in which the provider had a part has a code of its own, which no other route answers with.
 *
 * @throws {AuthError} `not_found` for a provider that the settings do not name
 */
export async function finishOAuth(ports: FinishOAuthPorts, input: OAuthReturn): Promise<FinishedOAuth> {
  if (!ports.providers.find(input.provider)) throw new AuthError('not_found')
  return orFailure(null, async () => {
    const taken = await takeState(ports, input)
    if (taken?.kind === 'landed') return { landing: taken.landing, result: null, fault: null }
    if (!taken) return refuseUnasked(ports, input)

    const { id, state } = taken
    const finished = await orFailure(state, async () =>
      land(ports, input, state, await completeOAuth(ports, state, input)),
    )
    // A user who was signed in stays signed in. Only a repeat of this callback has nowhere to land.
    await ignoreAuthError(noteLanding(ports, id, finished.landing), undefined)
    return finished
  })
}

/**
 * A callback that this browser did not ask for. Any web page can make its visitors send such requests, so one event stands for
 * all of an address in an hour.
 */
async function refuseUnasked(ports: FinishOAuthPorts, { provider, visitor }: OAuthReturn): Promise<FinishedOAuth> {
  const address = visitor.ip === null ? 'unknown' : limitKey(visitor.ip)
  const verdict = await ports.limiter.account('oauthUnasked', address)
  if (verdict === null || verdict.allowed) {
    const detail = { method: `oauth:${provider}`, reason: 'oauth_state', covers: '1h' }
    await ports.audit.record(auditEvent(ports, 'login', visitor, { outcome: 'failure', detail }))
  }
  return { landing: failure(null, 'oauth_state'), result: null, fault: null }
}

/** Where the browser goes. A failure is recorded as a failed sign-in (ASVS 5.0, 16.3.1). */
async function land(
  ports: FinishOAuthPorts,
  input: OAuthReturn,
  state: OAuthState,
  completed: Completed,
): Promise<FinishedOAuth> {
  if (completed.kind !== 'failure') {
    const landing = { to: destinationOf(completed), returnTo: state.returnTo, code: null, mailSent: null }
    return { landing, result: completed.kind === 'signed_in' ? completed.result : null, fault: null }
  }
  const { code, mail, userId = state.link?.userId ?? null } = completed
  const detail = { method: `oauth:${input.provider}`, reason: code }
  // With `oauth_state`, the session has ended or is not the one that asked.
  const owner = state.link && code !== 'oauth_state' && isBrowserOf(ports, state.link, input) ? state.link : null
  const visitor = owner ? signedInVisitor(input.visitor, owner) : input.visitor
  await ports.audit.record(auditEvent(ports, 'login', visitor, { userId, outcome: 'failure', detail }))
  const landing = { ...failure(state, code), mailSent: mail?.mailSent ?? null }
  return { landing, result: null, fault: null }
}

function destinationOf(completed: Exclude<Completed, { kind: 'failure' }>): Landing['to'] {
  if (completed.kind === 'linked') return 'linked'
  if (completed.kind === 'incomplete') return 'identity'
  return completed.result.kind === 'session' ? 'success' : 'two_factor'
}

async function orFailure(state: OAuthState | null, run: () => Promise<FinishedOAuth>): Promise<FinishedOAuth> {
  try {
    return await run()
  } catch (fault) {
    if (!(fault instanceof AuthError)) throw fault
    return { landing: failure(state, fault.code), result: null, fault }
  }
}

/** A signed-in user reads about a failed link on the account page, where it began. */
function failure(state: OAuthState | null, code: string): Landing {
  const to = state?.link && code !== 'oauth_state' ? 'account' : 'failure'
  return { to, returnTo: state?.returnTo ?? null, code, mailSent: null }
}

type CompleteOAuthPorts = EnterPorts & LinkIdentityPorts & Pick<Ports, 'tokens'>

/** The provider's answer, with what the browser sent. Null: missing, or sent more than once. */
interface OAuthReturn {
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
type Completed = Entry | { kind: 'linked' } | Unfinished

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
async function completeOAuth(ports: CompleteOAuthPorts, state: OAuthState, input: OAuthReturn): Promise<Completed> {
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
