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

/** A passkey of the account, as its owner sees it. Times are ISO 8601 in UTC. */
export interface PasskeyAnswer {
  id: string
  name: string
  /** The password manager or device that holds it, where that is known. */
  provider: string | null
  /** Whether it can be synchronised between devices; false: it stays on one. */
  synced: boolean
  /** False: it does not sign in, because it may be a copy or was made for a former RP id. */
  usable: boolean
  createdAt: string
  lastUsedAt: string | null
}

/** What a browser may know of the account's passkeys, for the signals of WebAuthn L3, 5.1.10. */
export interface PasskeySignals {
  rpId: string
  userId: string
  credentialIds: readonly string[]
  name: string
  displayName: string
}

/** What a ceremony begins with, as far as it is read here. */
interface CeremonyAnswer {
  options: { rpId?: string /** Milliseconds. */; timeout: number }
}

/** What passkeys use of a browser, and no more. Old browsers lack all of it, and so does rendering on a server. */
export interface PasskeyBrowser {
  navigator?: { credentials?: CredentialsContainer }
  PublicKeyCredential?: PasskeyApi
}

interface CredentialsContainer {
  create(request: CeremonyRequest): Promise<MadeCredential | null>
  get(request: CeremonyRequest): Promise<MadeCredential | null>
}

/** `conditional`: without a dialog. */
type Mediation = 'conditional' | undefined

interface CeremonyRequest {
  publicKey: unknown
  signal: AbortSignal
  mediation: Mediation
}

interface MadeCredential {
  id: string
  toJSON(): unknown
}

/** The static methods of `PublicKeyCredential` (WebAuthn L3, 5.1). */
interface PasskeyApi {
  parseCreationOptionsFromJSON?(options: unknown): unknown
  parseRequestOptionsFromJSON?(options: unknown): unknown
  isConditionalMediationAvailable?(): Promise<boolean>
  getClientCapabilities?(): Promise<Readonly<Record<string, boolean>>>
  signalUnknownCredential?(credential: { rpId?: string | undefined; credentialId: string }): Promise<void>
  signalAllAcceptedCredentials?(accepted: {
    rpId: string
    userId: string
    allAcceptedCredentialIds: readonly string[]
  }): Promise<void>
  signalCurrentUserDetails?(user: { rpId: string; userId: string; name: string; displayName: string }): Promise<void>
}

/** The field of a sign-in form in which a browser offers passkeys: an `<input>`. */
export interface AutofillField {
  autocomplete: string
}

/** Why no passkey was made or used, with the browser's own words. Refusals of the server are `AuthClientError`s. */
export class PasskeyError extends Error {
  /**
   * - `cancelled`: the user refused, had no passkey or did not answer in time, or another passkey call ended this one.
   * - `already_added`: this device or password manager holds a passkey of the account already.
   * - `unsupported`: the browser has no passkeys, or the page is not on https.
   * - `failed`: anything else, such as a page that is not on a site of `passkeys.rpId`.
   */
  declare readonly code: 'cancelled' | 'already_added' | 'unsupported' | 'failed'

  constructor(cause: unknown) {
    const { name, message }: { name: string; message?: string } = Object(cause)
    super(message, { cause })
    Object.assign(this, { name: 'PasskeyError', code: codes[name] ?? 'failed' })
  }
}

/** By the names of the browser's errors. Browsers do not say more, so that no page learns which passkeys a visitor has. */
const codes: Readonly<Record<string, PasskeyError['code']>> = {
  NotAllowedError: 'cancelled',
  AbortError: 'cancelled',
  InvalidStateError: 'already_added',
  TypeError: 'unsupported',
}
