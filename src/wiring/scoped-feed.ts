import type { Revocations } from '../guard/revocations.js'
import { changeIn } from '../model/scope.js'

/** The change feed as the guard of one scope sees it: without the changes of other scopes, subjects without the scope. */
export function scopedFeed(feed: Pick<Revocations, 'subscribe'>, scope: string): Pick<Revocations, 'subscribe'> {
  return {
    subscribe: (listener) =>
      feed.subscribe((change) => {
        if (change === null) return listener(null)
        const own = changeIn(scope, change)
        if (own !== null) listener(own)
      }),
  }
}
