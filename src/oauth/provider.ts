/** What our pages must know to offer a provider. */
export interface ProviderChoice {
  /** As in addresses: `/oauth/<name>`. */
  name: string
  /** As people know it: `Google`. */
  label: string
}

/** What a flow sends along to a provider, all of it fresh for each. */
export interface AuthorizationRequest {
  state: string
  /** PKCE (RFC 7636): at least 43 characters; only its S256 challenge leaves us before the token request. */
  verifier: string
  /** Comes back inside the id_token (OpenID Connect Core §3.1.2.1); providers without one leave it out. */
  nonce: string
}

/** What a provider's answer brought back, with what we kept of its request. */
export interface AuthorizationAnswer {
  code: string
  verifier: string
  nonce: string
  /** RFC 9207; null when it was not sent. */
  issuer: string | null
}

/** Who signed in at a provider. */
export interface ProviderAccount {
  /** What never changes about the account there; unique per provider. At most 255 characters. */
  id: string
  /** As the provider spells it; null when it tells none. */
  email: string | null
  /** null: the provider says neither. */
  emailVerified: boolean | null
  /** Whether the provider's word about that address suffices: nobody else can come to hold it while it says so. */
  authoritative: boolean
  name: string | null
}

/** A provider of identities: one file each. */
export interface Provider extends ProviderChoice {
  /**
   * The address to send the browser to. Null when it has to be asked for its endpoints (OpenID discovery) and does not answer.
   */
  authorizationUrl(request: AuthorizationRequest): Promise<string | null>
  /**
   * Trades the code for who signed in; null when that fails for whatever reason, which is logged by name and without
   * code, token or secret. Asks the provider once and no longer than 10 s each.
   */
  identify(answer: AuthorizationAnswer): Promise<ProviderAccount | null>
}

/** The providers that the settings name. */
export interface Providers {
  /** In the order of the settings. */
  list(): readonly ProviderChoice[]
  find(name: string): Provider | null
}
