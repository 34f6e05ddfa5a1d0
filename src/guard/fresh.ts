import { storeUnavailable } from '../errors.js'
import type { Moment, SharedClock } from '../lib/shared-clock.js'
import type { AccessFeed } from './access-settings.js'
import type { Revocations } from './revocations.js'

/** What a guard decides by besides the request, and which the change feed keeps current. */
export interface FreshParts {
  revocations: Pick<Revocations, 'isFresh' | 'catchUp'>
  accessFeed: Pick<AccessFeed, 'isCurrent' | 'catchUp'>
  clock: Pick<SharedClock, 'moment'>
}

export function isFresh({ revocations, accessFeed }: Omit<FreshParts, 'clock'>, at: Moment): boolean {
  return revocations.isFresh(at) && accessFeed.isCurrent()
}

/**
 * After a pause or a store failure, reads the changes once. If that fails, the request is refused.
 *
 * @throws {AuthError} `store_unavailable`
 */
export async function requireFresh(parts: FreshParts): Promise<void> {
  const { revocations, accessFeed, clock } = parts
  if (isFresh(parts, clock.moment())) return
  if ((revocations.isFresh() || (await revocations.catchUp())) && (await accessFeed.catchUp())) return
  throw storeUnavailable()
}
