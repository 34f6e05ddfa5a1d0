import type { Principal } from '../model/principal.js'

/** What the guard has decided since the start: plain numbers, because they are counted on every guarded request. */
export interface Decisions {
  readonly passed: Record<Principal['kind'], number>
  /** By the code of the error. */
  readonly refused: Record<string, number>
}

export function createDecisions(): Decisions {
  return { passed: { session: 0, apiToken: 0, jwt: 0, hook: 0 }, refused: {} }
}
