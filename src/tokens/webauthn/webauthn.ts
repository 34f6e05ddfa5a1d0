/** The site that passkeys are made for. */
export interface RelyingParty {
  /** A passkey works for this host and those below it, and for no other. */
  rpId: string
  /** The name that browsers show. */
  rpName: string
  /** The only origins that a response may come from. */
  origins: readonly string[]
}

/** A known credential, for a list in options. */
export interface KnownCredential {
  credentialId: string
  transports: readonly string[]
}

/** What the browser returns for a new passkey. All texts are canonical base64url. */
export interface CreationResponse {
  credentialId: string
  clientData: string
  attestation: string
  transports: readonly string[]
}

/** What the browser returns for a sign-in. All texts are canonical base64url. */
export interface SignedResponse {
  credentialId: string
  clientData: string
  authenticatorData: string
  signature: string
  /** `user.id` of the registration; null where the authenticator returned none. */
  userHandle: string | null
}

/** What the authenticator must have asked of the user. */
export interface Demands {
  /** Somebody touched it. */
  present: boolean
  /** It checked a PIN, a finger or a face. */
  verified: boolean
}

/** A new credential. Binary values are base64url. */
export interface NewCredential {
  credentialId: string
  /** COSE key (RFC 9052). */
  publicKey: string
  /** COSE algorithm, such as -7 for ES256. */
  algorithm: number
  signCount: number
  synced: boolean
  backedUp: boolean
  aaguid: string
}

/** What a response claims, in order. Only the signature proves it. */
export interface Claims {
  userVerified: boolean
  synced: boolean
  backedUp: boolean
  signCount: number
}

/** The options of a registration, as `PublicKeyCredential.parseCreationOptionsFromJSON` takes them. */
export interface CreationOptions {
  rp: { id: string; name: string }
  user: { id: string; name: string; displayName: string }
  challenge: string
  pubKeyCredParams: readonly { type: 'public-key'; alg: number }[]
  timeout: number
  excludeCredentials: readonly CredentialDescriptor[]
  authenticatorSelection: {
    residentKey: 'required'
    requireResidentKey: true
    userVerification: 'required' | 'preferred'
  }
  attestation: 'none'
}

/** The options of a sign-in, as `PublicKeyCredential.parseRequestOptionsFromJSON` takes them. */
export interface RequestOptions {
  challenge: string
  timeout: number
  rpId: string
  allowCredentials: readonly CredentialDescriptor[]
  userVerification: 'required' | 'preferred'
}

export interface CredentialDescriptor {
  type: 'public-key'
  id: string
  transports: readonly string[]
}

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

  /** The challenge that a response names; null for one that cannot be read. */
  challengeOf(clientData: string): string | null

  /**
   * The new credential; null unless the response was made for this site and challenge and meets the demands (WebAuthn §7.1). An attestation
   * is never believed, and one with a certificate is refused.
   */
  readCreation(
    response: CreationResponse,
    expected: { site: RelyingParty; challenge: string; demands: Demands },
  ): Promise<NewCredential | null>

  /** What the response claims; null unless it was made for this site and meets the demands (WebAuthn §7.2, steps 10 to 18). */
  readClaims(response: SignedResponse, expected: { site: RelyingParty; demands: Demands }): Claims | null

  /** Whether that key signed the response. Without a key it takes as long and is false. */
  isSigned(
    response: SignedResponse,
    expected: { site: RelyingParty; challenge: string; publicKey: string | null },
  ): Promise<boolean>
}
