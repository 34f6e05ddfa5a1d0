import type { Revocations } from './revocations.js'

/** Tells whether what was read of an API token may be old: no I/O, one look-up. */
export interface TokenChanges {
  /** A moment in the order in which this process hears of changes. */
  mark(): number
  /** Whether that token may have been changed or removed after the mark, as far as this process can know. */
  isSince(tokenId: string, mark: number): boolean
}

/** Changes that are remembered. Beyond that all count as missed, which costs each token in use one read. */
const rememberedChanges = 50_000

/** Follows the change feed. Whatever acts by this news must subscribe to the feed after it. */
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
