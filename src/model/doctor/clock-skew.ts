import type { Finding } from './report.js'

const warnMs = 2_000
const errorMs = 30_000

/**
 * The finding about two clocks that differ; null when they agree well enough.
 *
 * @param aheadMs how far the other clock is ahead of this process's
 */
export function judgeSkew(other: string, aheadMs: number): Finding | null {
  const awayMs = Math.abs(aheadMs)
  if (awayMs < warnMs) return null
  const direction = aheadMs > 0 ? 'ahead of' : 'behind'
  return {
    finding: `The clock of ${other} is ${Math.round(awayMs / 1000)} seconds ${direction} the clock of this process.`,
    level: awayMs >= errorMs ? 'error' : 'warn',
  }
}
