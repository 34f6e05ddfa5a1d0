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
export type Mediation = 'conditional' | undefined

interface CeremonyRequest {
  publicKey: unknown
  signal: AbortSignal
  mediation: Mediation
}

export interface MadeCredential {
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
