/** What the pages need to offer a provider. */
export interface ProviderChoice {
  /** As in the URL: `/oauth/<name>`. */
  name: string
  /** The name that users know: `Google`. */
  label: string
}

/** The values of an authorization request, fresh for each one. */
export interface AuthorizationRequest {
  state: string
  /** PKCE (RFC 7636): at least 43 characters. Before the token request, only its S256 challenge is sent. */
  verifier: string
  /** Returned inside the id_token (OpenID Connect Core §3.1.2.1). Providers without an id_token leave it out. */
  nonce: string
}

/** A provider's answer, with the stored parts of our request. */
export interface AuthorizationAnswer {
  code: string
  verifier: string
  nonce: string
  /** RFC 9207; null when it was not sent. */
  issuer: string | null
}

/** Who signed in at a provider. */
export interface ProviderAccount {
  /** The constant id of the account, unique per provider. At most 255 characters. */
  id: string
  /** As the provider spells it; null when it names none. */
  email: string | null
  /** null: the provider does not state it. */
  emailVerified: boolean | null
  /** Whether the provider is authoritative for the address: while it states the address, no other person can hold it. */
  authoritative: boolean
  name: string | null
}

/** A provider of identities: one file each. */
export interface Provider extends ProviderChoice {
  /** Whether its `authoritative` rests on the provider itself. Otherwise it rests on the setting `trustEmail` alone. */
  isAuthority: boolean
  /**
   * The URL to send the browser to. Null when the provider must be asked for its endpoints (OpenID discovery) and does not
   * answer.
   */
  authorizationUrl(request: AuthorizationRequest): Promise<string | null>
  /**
   * Exchanges the code for the account that signed in; null when that fails. The reason is logged by name, without code,
   * token or secret. Each request to the provider is made once and takes at most 10 s.
   */
  identify(answer: AuthorizationAnswer): Promise<ProviderAccount | null>
}

/** The providers that the settings name. */
export interface Providers {
  /** In the order of the settings. */
  list(): readonly ProviderChoice[]
  find(name: string): Provider | null
}
