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

/** What the browser says that it did (WebAuthn §5.8.1). */
export interface ClientData {
  type: string
  challenge: string
  origin: string
  /** Whether the page was in a frame of another origin. */
  crossOrigin: boolean
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
  /** That it is touched, or confirmed. */
  present: boolean
  /** That a PIN, a finger or a face is checked. */
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

/** What a response claims. Its flags do not contradict each other; only the signature proves them. */
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
