import { choiceIn, type Fields, fieldsIn, flagIn, nullOr, readFields, textIn } from '../../lib/json-fields.js'
import { sleep } from '../../lib/runtime.js'
import type { OneTimePurpose, OneTimeToken } from '../../model/one-time-token.js'
import type { Ports } from '../../ports.js'

export type OAuthStatePorts = Pick<Ports, 'oneTimeTokens' | 'keyring' | 'random' | 'clock'>

/** How long a browser may be away at a provider. */
export const stateSeconds = 10 * 60

/** Tabs of one browser that may sign in at the same time. */
const statesPerBrowser = 5

/** How long a repeated callback waits for the first one. */
const patienceMs = 5_000

/** The state that we keep while a browser is at a provider. */
export interface OAuthState {
  provider: string
  /** PKCE (RFC 7636) and nonce (OpenID Connect Core §3.1.2.1): the code must belong to this very request. */
  verifier: string
  nonce: string
  /** Where the browser asked to return, checked; null: it did not ask. */
  returnTo: string | null
  /** The user and session that link a further login; null: an ordinary sign-in. */
  link: { userId: string; sessionId: string } | null
}

const landings = ['success', 'two_factor', 'identity', 'linked', 'account', 'failure'] as const

/** Where a callback ends. A repeated one ends there, too. */
export interface Landing {
  to: (typeof landings)[number]
  /** Where the browser asked to return. */
  returnTo: string | null
  /** Why it ends at `account` or `failure`. */
  code: string | null
  /** For `email_not_verified`: whether a new mail was sent. */
  mailSent: boolean | null
}

/** What a callback finds: a state that only it may use, or the landing of the first callback. */
export type TakenState = { kind: 'state'; id: string; state: OAuthState } | { kind: 'landed'; landing: Landing }

/** The browser's handle, if it has the form of ours; otherwise a new one. */
export function browserHandle(ports: Pick<Ports, 'random'>, held: string | null): string {
  return held !== null && /^[\w-]{43}$/.test(held) ? held : ports.random.token()
}

/** Keeps the state for this browser, under that secret: the `state` parameter (RFC 9700 §4.7). */
export async function keepState(ports: OAuthStatePorts, handle: string, secret: string, state: OAuthState) {
  const id = ports.random.id()
  const now = ports.clock.now()
  const browser = ports.keyring.digest('oauth-handle', handle)
  const token: OneTimeToken = {
    id,
    purpose: 'oauth_state',
    subject: browser,
    userId: state.link?.userId ?? null,
    email: '',
    tokenHash: ports.keyring.digest('oauth_state', secret),
    codeHash: null,
    handleHash: browser,
    payload: ports.keyring.seal('oauth-state', id, JSON.stringify(state)),
    tries: 0,
    createdAt: now,
    expiresAt: now + stateSeconds,
  }
  await ports.oneTimeTokens.put(token, null, { keep: statesPerBrowser, now })
}

/**
 * Uses up the state of a callback. Of many callbacks with one state, one gets it, and the others wait for its landing: a
 * double click signs in once, and asks the provider once. Null for a state that is unknown, expired, of another browser (which
 * uses nothing up), or of another provider (which uses it up; RFC 9700 §4.4).
 */
export async function takeState(
  ports: OAuthStatePorts,
  asked: { state: string | null; handle: string | null; provider: string },
): Promise<TakenState | null> {
  const token = await findOwn(ports, 'oauth_state', asked)
  const claimed = token && (await ports.oneTimeTokens.claim(token.id, token.purpose, 'oauth_landed', ports.clock.now()))
  if (!token || !claimed) return awaitLanding(ports, asked)

  const state = openState(ports, token)
  if (state?.provider === asked.provider) return { kind: 'state', id: token.id, state }
  await noteLanding(ports, token.id, { to: 'failure', returnTo: null, code: 'oauth_state', mailSent: null })
  return null
}

export async function noteLanding(ports: OAuthStatePorts, id: string, landing: Landing): Promise<void> {
  await ports.oneTimeTokens.note(id, ports.keyring.seal('oauth-landing', id, JSON.stringify(landing)))
}

async function awaitLanding(
  ports: OAuthStatePorts,
  asked: { state: string | null; handle: string | null },
): Promise<TakenState | null> {
  let pauseMs = 20
  for (let waitedMs = 0; waitedMs < patienceMs; waitedMs += pauseMs) {
    const token = await findOwn(ports, 'oauth_landed', asked)
    if (!token) return null
    if (token.payload !== null) {
      const landing = openLanding(ports, token.id, token.payload)
      return landing && { kind: 'landed', landing }
    }
    await sleep(pauseMs)
    pauseMs = Math.min(pauseMs * 2, 400)
  }
  return null
}

/** The live token under that secret, if it was made for this browser. */
async function findOwn(
  ports: OAuthStatePorts,
  purpose: Extract<OneTimePurpose, 'oauth_state' | 'oauth_landed'>,
  { state, handle }: { state: string | null; handle: string | null },
): Promise<OneTimeToken | null> {
  if (state === null || handle === null) return null
  const hashes = ports.keyring.digests('oauth_state', state)
  const token = await ports.oneTimeTokens.findByHash(purpose, hashes, ports.clock.now())
  const browsers = ports.keyring.digests('oauth-handle', handle)
  return token?.handleHash && browsers.includes(token.handleHash) ? token : null
}

/** Null when the key that sealed it is gone, or the text is no state. */
function openState(ports: OAuthStatePorts, { id, payload }: OneTimeToken): OAuthState | null {
  const text = payload === null ? null : ports.keyring.open('oauth-state', id, payload)
  return readFields(text, (fields) => ({
    provider: textIn(fields, 'provider'),
    verifier: textIn(fields, 'verifier'),
    nonce: textIn(fields, 'nonce'),
    returnTo: nullOr(fields, 'returnTo', textIn),
    link: nullOr(fields, 'link', linkIn),
  }))
}

function linkIn(fields: Fields, name: string): OAuthState['link'] {
  const link = fieldsIn(fields, name)
  return { userId: textIn(link, 'userId'), sessionId: textIn(link, 'sessionId') }
}

/** Null when the key that sealed it is gone, or the text is no landing. */
function openLanding(ports: OAuthStatePorts, id: string, sealed: string): Landing | null {
  return readFields(ports.keyring.open('oauth-landing', id, sealed), (fields) => ({
    to: choiceIn(fields, 'to', landings),
    returnTo: nullOr(fields, 'returnTo', textIn),
    code: nullOr(fields, 'code', textIn),
    mailSent: nullOr(fields, 'mailSent', flagIn),
  }))
}
