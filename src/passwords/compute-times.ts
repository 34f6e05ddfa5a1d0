/** What comparisons took lately, by kind of hash: the floor under failed sign-ins. */
export interface ComputeTimes {
  note(name: string, milliseconds: number): void
  knows(name: string): boolean
  /** Milliseconds: the slowest of the last computations of any kind, at most 5 s. */
  slowest(): number
}

/** So many of each kind are remembered: one that a pause of the machine made slow is forgotten again. */
const remembered = 32
/** Kinds that are remembered; the one not seen for longest goes. Some libraries draw the number of rounds by lot. */
const rememberedKinds = 64
const mostMilliseconds = 5_000

export function createComputeTimes(): ComputeTimes {
  const lately = new Map<string, number[]>()

  return {
    note(name, milliseconds) {
      const times = [...(lately.get(name) ?? []), milliseconds].slice(-remembered)
      lately.delete(name) // a Map keeps the order of insertion
      lately.set(name, times)
      const [oldest] = lately.keys()
      if (oldest !== undefined && lately.size > rememberedKinds) lately.delete(oldest)
    },
    knows: (name) => lately.has(name),
    slowest: () => Math.min(mostMilliseconds, Math.max(0, ...[...lately.values()].flat())),
  }
}
