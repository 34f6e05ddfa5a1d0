/** What comparisons took lately, by cost: the floor under failed sign-ins. */
export interface ComputeTimes {
  note(cost: number, milliseconds: number): void
  /** Milliseconds: the slowest of the last computations of any cost, at most 5 s. */
  slowest(): number
}

/** So many of each cost are remembered: one that a pause of the machine made slow is forgotten again. */
const remembered = 32
const mostMilliseconds = 5_000

export function createComputeTimes(): ComputeTimes {
  const lately = new Map<number, number[]>()

  return {
    note(cost, milliseconds) {
      lately.set(cost, [...(lately.get(cost) ?? []), milliseconds].slice(-remembered))
    },
    slowest: () => Math.min(mostMilliseconds, Math.max(0, ...[...lately.values()].flat())),
  }
}
