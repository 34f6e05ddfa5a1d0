import type { KeySetRules } from './key-set.js'

/** The access settings in force, and where they come from. */
export interface AccessView {
  /** The URL of the key set in force; null: no tokens of another issuer. */
  jwksUrl: string | null
  /** The URL in the settings, which is in force again after `setJwks(null)`. */
  fixedJwksUrl: string | null
  /** In the space host: what tokens of that issuer must fulfil. An application has this in its settings. */
  jwksRules?: KeySetRules
  /** IP addresses and CIDRs that may use the API, canonical; empty: all addresses may. */
  allowList: { fixed: string[]; added: string[] }
}
