import type { SessionAnswer } from '../model/session-answer.js'

/** Who is signed in, as far as this tab knows. */
export interface SessionState {
  /** undefined until known. The same object until something in it changes. */
  get(): SessionAnswer | null | undefined
  set(next: SessionAnswer | null): void
  subscribe(listener: () => void): () => void
  /** Whether anybody wants to know. */
  isWatched(): boolean
  /** Grows whenever the session is told anew, so that an answer that was asked for before does not overrule it. */
  age(): number
  outdate(): void
}

export function createSessionState(onSignedOut: (() => void) | undefined): SessionState {
  const listeners = new Set<() => void>()
  let current: SessionAnswer | null | undefined
  let age = 0

  return {
    get: () => current,
    set(next) {
      age += 1
      if (JSON.stringify(next) === JSON.stringify(current)) return
      const had = current
      current = next
      for (const listener of listeners) listener()
      if (had && !next) onSignedOut?.()
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    isWatched: () => current !== undefined || listeners.size > 0,
    age: () => age,
    outdate() {
      age += 1
    },
  }
}

/** The session in an answer of the server; null when it holds none. */
export function sessionIn(answer: unknown): SessionAnswer | null {
  const { user, session }: Partial<SessionAnswer> = Object(answer)
  return user && session ? { user, session } : null
}
