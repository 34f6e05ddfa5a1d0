import type { Revocations } from './revocations.js'

/** Knows whether a cached API token may be outdated: no I/O, one look-up. */
export interface TokenChanges {
  /** A position in the order in which this process receives changes. */
  mark(): number
  /** Whether the token may have been changed or removed after the mark, as far as this process knows. */
  isSince(tokenId: string, mark: number): boolean
}

/** How many changes are remembered. Beyond that all count as missed, which costs one read per token in use. */
const rememberedChanges = 50_000

/** Follows the change feed. Code that acts on its result must subscribe to the feed after it. */
export function followTokens(feed: Pick<Revocations, 'subscribe'>): TokenChanges {
  const changes = new Map<string, number>()
  let count = 0
  let missedAt = 0

  feed.subscribe((change) => {
    if (change !== null && change.kind !== 'api_token') return
    count += 1
    if (change !== null && changes.size < rememberedChanges) {
      changes.set(change.subject, count)
      return
    }
    changes.clear()
    missedAt = count
  })
  return {
    mark: () => count,
    isSince: (tokenId, mark) => mark !== count && (missedAt > mark || (changes.get(tokenId) ?? 0) > mark),
  }
}
