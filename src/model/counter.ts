/** How many hits a counter takes, and in which time. */
export interface CounterRule {
  limit: number
  /** From the first hit on; what comes after the end begins a new window. */
  windowSeconds: number
  /** How long a full counter stays closed, from the hit that filled it. Default: to the end of its window. */
  waitSeconds?: number
  /** A second window over the same hits: a hit counts in both, or in none. */
  long?: { limit: number; windowSeconds: number }
}

/** One of several counters that are counted together. Their ids have the text before the first dot in common. */
export interface CounterHit {
  id: string
  rule: CounterRule
}

/** What became of a hit. Times are Unix seconds. */
export interface Hit {
  /** False: the counter was full, and nothing was written. */
  counted: boolean
  /** How many more there may be in the window. */
  remaining: number
  /** When the window ends; of a hit that was not counted, when the counter opens again. */
  resetsAt: number
}
