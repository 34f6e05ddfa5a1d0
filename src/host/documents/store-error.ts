/** Why the store refused. The control API and the runner answer these codes. */
export const storeErrorCodes = [
  'already_exists',
  'not_current',
  'plan_outdated',
  'query_invalid',
  'quota_exceeded',
  'store_unavailable',
] as const

export type StoreErrorCode = (typeof storeErrorCodes)[number]

/** A refusal of the store. The message may be shown to clients: it names fields, never values. */
export class StoreError extends Error {
  readonly code: StoreErrorCode

  constructor(code: StoreErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'StoreError'
    this.code = code
  }
}

export function isStoreError(error: unknown, code: StoreErrorCode): boolean {
  return error instanceof StoreError && error.code === code
}

export function queryInvalid(message: string, cause?: unknown): StoreError {
  return new StoreError('query_invalid', message, cause)
}
