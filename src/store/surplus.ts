import type { OneTimeToken } from '../model/one-time-token.js'

/** The rows to remove so that `keep` are left together with a new one. `others` are newest first, without the new one. */
export function surplus<Row>(others: readonly Row[], keep: number): Row[] {
  return others.slice(Math.max(keep - 1, 0))
}

/** How many tokens of a purpose are kept. */
export interface Places {
  keep: number
  /**
   * Which tokens share them. `subject` (the default): those of one subject; the oldest goes. `email`: those of all subjects
   * for one address; the subject with the most goes back by its oldest, so that one subject cannot push out the others.
   */
  sharedBy?: 'subject' | 'email'
  /**
   * A browser has one of them: the token with the handle of the new one goes, and those with these token hashes. Tokens
   * without a handle, whose browser is not known, go before those with one.
   */
  onePerBrowser?: { tokenHashes: readonly string[] }
}

/** The part of a row that decides which tokens go. */
export interface PlacedToken {
  subject: string
  handle_hash: string | null
  token_hash: string
}

/**
 * The tokens to remove so that `keep` are left together with a new one. `others` are newest first, without the new one, and
 * share its places.
 */
export function surplusTokens<Row extends PlacedToken>(
  others: readonly Row[],
  token: Pick<OneTimeToken, 'subject' | 'handleHash'>,
  { keep, sharedBy = 'subject', onePerBrowser }: Places,
): Row[] {
  if (sharedBy === 'subject') return surplus(others, keep)
  const isOwn = ({ token_hash, handle_hash }: Row) =>
    onePerBrowser !== undefined &&
    (onePerBrowser.tokenHashes.includes(token_hash) || (handle_hash !== null && handle_hash === token.handleHash))
  const removed = others.filter(isOwn)
  const left = others.filter((row) => !isOwn(row))
  while (left.length > 0 && left.length + 1 > keep) {
    const unknown = left.filter(({ handle_hash }) => handle_hash === null)
    const candidates = onePerBrowser && unknown.length > 0 ? unknown : left
    const countOf = (of: string) =>
      candidates.filter(({ subject }) => subject === of).length + (of === token.subject ? 1 : 0)
    const most = Math.max(...candidates.map(({ subject }) => countOf(subject)))
    const due = left.findLastIndex((row) => candidates.includes(row) && countOf(row.subject) === most)
    removed.push(...left.splice(due, 1))
  }
  return removed
}
