/**
 * Passkeys in the browser, over `latchkey/client`. Each call asks the server for a challenge, the browser for a signature,
 * and the server for its answer. A page runs one at a time: a new call ends the one before it as `cancelled`.
 *
 * @example
 * import { createAuthClient } from 'latchkey/client'
 * import { createPasskeys } from 'latchkey/client/passkeys'
 *
 * const passkeys = createPasskeys(createAuthClient())
 * if (passkeys.supported()) {
 *   passkeys.autofill(document.querySelector('#email'), { onSignedIn: () => location.assign('/') })
 *   button.onclick = () => passkeys.signInWithPasskey().then(() => location.assign('/'))
 * }
 *
 * @module
 */
import type { SessionAnswer } from '../model/session-answer.js'
import type { AutofillField, PasskeyAnswer, PasskeyBrowser, PasskeySignals } from './ceremonies.js'
import { type Ceremony, type PasskeyCalls, perform } from './ceremonies.js'

export type { SessionAnswer } from '../model/session-answer.js'
export type { AutofillField, PasskeyAnswer, PasskeyCalls } from './ceremonies.js'
export { PasskeyError } from './ceremonies.js'

/** All calls that return a promise, except `upgrade` and `signal`, reject with an `AuthClientError` or a `PasskeyError`. */
export interface PasskeyClient {
  /** Whether this browser can do passkeys. Without it, hide what offers them: every call would be `unsupported`. */
  supported(): boolean
  /** Signs in. The browser shows the passkeys that it has for this site; no address is asked. */
  signInWithPasskey(): Promise<SessionAnswer>
  /**
   * Offers passkeys in the browser's suggestions for that field, until one signs in or `stop` is called. If the field's
   * `autocomplete` lacks `webauthn`, it becomes `username webauthn`. Does nothing where the browser cannot.
   *
   * @returns stop
   */
  autofill(field: AutofillField, on?: AutofillEvents): () => void
  /**
   * Adds a passkey to the signed-in account. It needs the account's password, or a sign-in of the last five minutes:
   * otherwise `recent_login_required`.
   */
  addPasskey(options?: { password?: string; name?: string }): Promise<{ passkey: PasskeyAnswer }>
  /**
   * After a sign-in by password: asks the password manager that filled it in to make a passkey, without a dialog. Call it
   * within five minutes. Null where that is not possible; it never rejects.
   */
  upgrade(): Promise<{ passkey: PasskeyAnswer } | null>
  /** Proves again that the signed-in user is here, for actions that want a recent sign-in. */
  reauthenticate(): Promise<SessionAnswer>
  /** The second step of a sign-in, in place of a code, when `methods` has `passkey`. The browser may hold `challenge`. */
  verifyTwoFactor(step?: { challenge?: string }): Promise<SessionAnswer>
  /**
   * Tells the browser which passkeys the signed-in account has, and its address and name, so that it offers no others. All
   * calls here do so after a change; call it after one of your own, such as `DELETE /passkeys/:id`. It never rejects.
   */
  signal(): Promise<void>
}

export interface AutofillEvents {
  onSignedIn?(session: SessionAnswer): void
  onError?(error: unknown): void
}

/** One a page is enough, over the client of the page. */
export function createPasskeys(auth: PasskeyCalls): PasskeyClient {
  // `object`, because the types of Node's globals know no `PublicKeyCredential`.
  const page: object = globalThis
  return passkeysIn(page, auth)
}

/** @internal */
export function passkeysIn(browser: PasskeyBrowser, auth: PasskeyCalls): PasskeyClient {
  const api = browser.PublicKeyCredential
  const [begin, run, withDialog, autofill] = ceremoniesIn(browser, auth)

  const prove = (path: string, step?: object): Promise<SessionAnswer> => withDialog({ path, ask: step, add: step })

  return {
    supported: () => Boolean(api?.parseRequestOptionsFromJSON),
    signInWithPasskey: () => prove('/passkeys/login'),
    autofill,
    addPasskey: ({ name, ...ask } = {}) => withDialog({ path: '/passkeys', ask, add: { name } }),
    async upgrade() {
      try {
        if (!(await api?.getClientCapabilities?.())?.conditionalCreate) return null
        return await run(begin(), { path: '/passkeys', ask: { upgrade: true }, mediation: 'conditional' })
      } catch {
        return null
      }
    },
    reauthenticate: () => prove('/reauthenticate'),
    verifyTwoFactor: (step) => prove('/login/two-factor', step),
    signal: () => signal(api, auth),
  }
}

/** What the ceremonies of a page share. In a list, since names of members are not minified. */
function ceremoniesIn(browser: PasskeyBrowser, auth: PasskeyCalls) {
  const { PublicKeyCredential: api } = browser
  let current = new AbortController()
  let renewal: ReturnType<typeof setTimeout> | undefined
  let offer: (() => void) | undefined

  /** Ends the ceremony under way, since browsers run one at a time. */
  function begin(): AbortSignal {
    clearTimeout(renewal)
    current.abort()
    current = new AbortController()
    return current.signal
  }

  /** A ceremony, and what the browser is to know after it. */
  async function run<T>(own: AbortSignal, ceremony: Ceremony): Promise<T> {
    const answer = await perform<T>(browser, auth, own, ceremony)
    await signal(api, auth)
    return answer
  }

  /** Autofill, which had to end for the dialog, goes on when that fails. */
  function withDialog<T>(ceremony: Ceremony): Promise<T> {
    const own = begin()
    return run<T>(own, ceremony).catch((error) => {
      if (!own.aborted) offer?.()
      throw error
    })
  }

  function autofill(field: AutofillField, on: AutofillEvents = {}): () => void {
    let left = 5 // A browser that refuses at once must not be asked for ever.
    const mine = async () => {
      const own = begin()
      const onOptions = (milliseconds: number) => {
        // A page that waits gets a fresh challenge half a minute before the old one ends.
        renewal = setTimeout(() => own.aborted || mine(), milliseconds - 30_000)
      }
      try {
        const answer = await run<SessionAnswer>(own, { path: '/passkeys/login', mediation: 'conditional', onOptions })
        stop()
        on.onSignedIn?.(answer)
      } catch (error) {
        if (own.aborted) return
        on.onError?.(error)
        if (left--) void mine()
      }
    }
    const stop = () => {
      offer = undefined
      begin()
    }
    if (!field.autocomplete.includes('webauthn')) field.autocomplete = 'username webauthn'
    offer = mine
    void api?.isConditionalMediationAvailable?.().then((able) => able && offer?.())
    return stop
  }

  return [begin, run, withDialog, autofill] as const
}

async function signal(api: PasskeyBrowser['PublicKeyCredential'], auth: PasskeyCalls): Promise<void> {
  try {
    if (!api?.signalAllAcceptedCredentials) return
    const { signals } = await auth.get<{ signals: PasskeySignals | null }>('/passkeys')
    if (signals) {
      await api.signalAllAcceptedCredentials({ ...signals, allAcceptedCredentialIds: signals.credentialIds })
      await api.signalCurrentUserDetails?.(signals)
    }
  } catch {
    // A courtesy. The next sign-in repeats it.
  }
}
