/** A person with an account at every provider that the peer plays. */
export interface PeerAccount {
  /** What never changes about the account. For GitHub it must be a number in decimal digits. */
  id: string
  /** Default: none. */
  email?: string
  /** Whether the provider has confirmed the address. Default: true. */
  emailVerified?: boolean
  name?: string
  /** Further claims of the id_token, such as Google's `hd`; one of the same name wins. */
  claims?: Readonly<Record<string, unknown>>
}
