/** Who asks, as far as audit, notices and limits are concerned. */
export interface Visitor {
  /** Canonical address, read through `trustedProxies`; null when it cannot be known. */
  ip: string | null
  userAgent: string | null
  /** For hooks that want what their framework has; nothing of ours asks. */
  native?: () => NativeExchange
}

/** Request and response as the framework hands them to its handlers. */
export interface NativeExchange {
  request: unknown
  response: unknown
}
