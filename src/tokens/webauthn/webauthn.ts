import type {
  Claims,
  ClientData,
  CreationOptions,
  CreationResponse,
  Demands,
  KnownCredential,
  NewCredential,
  RelyingParty,
  RequestOptions,
  SignedResponse,
} from '../../model/factors/webauthn.js'

/** Ceremonies of WebAuthn Level 3. */
export interface Webauthn {
  creationOptions(input: {
    site: RelyingParty
    user: CreationOptions['user']
    challenge: string
    seconds: number
    exclude: readonly KnownCredential[]
    /** The browser makes the passkey without a dialog, after a sign-in by password. */
    unasked: boolean
  }): CreationOptions

  requestOptions(input: {
    site: RelyingParty
    challenge: string
    seconds: number
    /** Empty: any passkey of the site. */
    allow: readonly KnownCredential[]
    userVerification: RequestOptions['userVerification']
  }): RequestOptions

  /** What the browser says of a response; null for a text that cannot be read. A flow reads it once, and passes it on. */
  readClientData(encoded: string): ClientData | null

  /**
   * The new credential; null unless the response was made for this site and challenge and meets the demands (WebAuthn §7.1). An attestation
   * is never believed, and one with a certificate is refused.
   */
  readCreation(
    response: CreationResponse,
    expected: { site: RelyingParty; clientData: ClientData; demands: Demands },
  ): Promise<NewCredential | null>

  /** What the response claims; null unless it was made for this site and meets the demands (WebAuthn §7.2, steps 10 to 18). */
  readClaims(
    response: SignedResponse,
    expected: { site: RelyingParty; clientData: ClientData; demands: Demands },
  ): Claims | null

  /** The algorithm of a COSE key (base64url), such as -7 for ES256; null for a key that cannot be read or used here. */
  readKey(publicKey: string): Promise<number | null>

  /** Whether that key signed the response. Without a key it takes as long and is false. */
  isSigned(
    response: SignedResponse,
    expected: { site: RelyingParty; clientData: ClientData; publicKey: string | null },
  ): Promise<boolean>
}
