/** Who asks, as far as audit, notices and limits are concerned. */
export interface Visitor {
  /** Canonical address, read through `trustedProxies`; null when it cannot be known. */
  ip: string | null
  userAgent: string | null
}
