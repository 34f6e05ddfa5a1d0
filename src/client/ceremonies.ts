import type { CeremonyAnswer } from './passkey-answers.js'
import type { MadeCredential, Mediation, PasskeyBrowser } from './passkey-browser.js'
import { PasskeyError } from './passkey-error.js'

/** The calls of `latchkey/client` that passkeys need. */
export interface PasskeyCalls {
  get<T>(path: string): Promise<T>
  post<T>(path: string, body?: unknown): Promise<T>
}

export interface Ceremony {
  /** The route that takes the response: `/passkeys` a new passkey, any other a signature. Options are at `/options` below. */
  path: string
  /** What the route for options gets. */
  ask?: object | undefined
  /** What the route gets beside the response. */
  add?: object | undefined
  mediation?: Mediation
  /** Called with the time that the server gives for the response, in milliseconds. */
  onOptions?(milliseconds: number): void
}

/** Options of the server, a response of the browser, the server's answer to it. */
export async function perform<T>(
  { navigator, PublicKeyCredential: api }: PasskeyBrowser,
  auth: PasskeyCalls,
  signal: AbortSignal,
  { path, ask, add, mediation, onOptions }: Ceremony,
): Promise<T> {
  const { options } = await auth.post<CeremonyAnswer>(`${path}/options`, ask)
  onOptions?.(options.timeout)
  const [kind, parse] =
    path === '/passkeys'
      ? (['create', 'parseCreationOptionsFromJSON'] as const)
      : (['get', 'parseRequestOptionsFromJSON'] as const)
  let made: MadeCredential | null | undefined
  try {
    made = await navigator?.credentials?.[kind]({ publicKey: api?.[parse]?.(options), signal, mediation })
    if (!made) throw new TypeError()
  } catch (cause) {
    throw new PasskeyError(cause)
  }
  const { id } = made
  return auth.post<T>(path, { ...add, response: made.toJSON() }).catch((refusal: unknown) => {
    // The browser then forgets the passkey for good, so only the server's word for it counts.
    if (Object(refusal).unknown) void api?.signalUnknownCredential?.({ rpId: options.rpId, credentialId: id })
    throw refusal
  })
}
