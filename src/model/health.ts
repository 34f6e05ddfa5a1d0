/** How this process and its store are. Holds no address, secret or error text: it may be shown to anybody. */
export interface Health {
  /**
   * `ok`; `degraded`: guarded requests are decided, but the store does not answer, Redis does not, mails wait for longer than 15
   * minutes or passwords for a thread; `down`: guarded requests get 503, because the store was never opened or the news is too old.
   */
  status: 'ok' | 'degraded' | 'down'
  /** Whether the store answers, and in how many milliseconds. */
  store: { ok: boolean; latencyMs: number | null }
  /** The news of revocations: its age in milliseconds, and whether guarded requests may be decided by it. */
  changeFeed: { fresh: boolean; ageMs: number | null }
  /** Mails that wait, for how long the oldest does, and those set aside for good; null when the store does not answer. */
  outbox: { waiting: number; oldestSeconds: number | null; setAside: number } | null
  /** Passwords that wait for a thread; beyond 64 sign-ins are answered 503 `busy`. */
  hashing: { queued: number }
  /** Whether Redis answers, and in how many milliseconds; null without the setting. */
  redis: { ok: boolean; latencyMs: number | null } | null
}
