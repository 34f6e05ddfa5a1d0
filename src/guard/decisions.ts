import type { Principal } from '../model/principal.js'

/** Counts of the guard's decisions since the start. Plain numbers, because every guarded request counts. */
export interface Decisions {
  readonly passed: Record<Principal['kind'], number>
  /** By the code of the error. */
  readonly refused: Record<string, number>
}

export function createDecisions(): Decisions {
  return { passed: { session: 0, apiToken: 0, jwt: 0, hook: 0 }, refused: {} }
}
