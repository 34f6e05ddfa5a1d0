/** Settings of access as they are in force, and where they come from. */
export interface AccessView {
  /** Of the key set in force; null: no tokens of another issuer. */
  jwksUrl: string | null
  /** What the settings say, and what is in force again once `setJwks(null)` was called. */
  fixedJwksUrl: string | null
  /** IP addresses and CIDRs that alone may use the API, canonical; none at all: everybody may. */
  allowList: { fixed: string[]; added: string[] }
}
