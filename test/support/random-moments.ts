/** Moments drawn from a seed, aimed at the time in which something is under way. */
export interface Moments {
  /** 0 ≤ n < limit, a whole number. */
  below(limit: number): number
  /** Waits until the next moment, or until all is answered. */
  wait(answers: Promise<unknown>): Promise<void>
  /** What was answered by then: moves the aim, so that about half are. */
  learn(answered: readonly boolean[]): void
  /** How often a moment fell between the first and the last of the answers, or took them all. */
  hits(): number
}

export function createMoments(seed: number): Moments {
  let state = seed
  let aimMs = 20
  let hits = 0

  /** mulberry32 */
  function draw(): number {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }

  return {
    below: (limit) => Math.floor(draw() * limit),
    async wait(answers) {
      const milliseconds = 2 * aimMs * draw()
      await Promise.race([answers, new Promise((resolve) => setTimeout(resolve, milliseconds))])
    },
    learn(answered) {
      const share = answered.filter((each) => each).length / answered.length
      aimMs *= 1.5 - share
      if (share < 1) hits += 1
    },
    hits: () => hits,
  }
}
