import type { HashSource } from '../model/hash-source.js'

const ownSource: HashSource = { key: null, known: false }

/** The part of the waiting places that known devices share in addition. */
const knownShare = 4
/** How many times the waiting places all computations together may take, however many known devices come. */
const hardCap = 4

type Waiting = Map<string | null, (() => void)[]>

/**
 * A bounded queue that one network cannot fill. A source may take as many places as are still free: one network gets half of
 * them, and a newcomer finds one beside several of them. A known device of which nothing waits always finds one, because those of
 * other accounts may be a stranger's (ATK-296).
 */
export class FairQueue {
  readonly #places: number
  readonly #known: Waiting = new Map()
  readonly #others: Waiting = new Map()
  #lastWasKnown = false

  constructor(places: number) {
    this.#places = places
  }

  /** Whether a computation may wait. */
  hasRoom({ key, known }: HashSource = ownSource): boolean {
    const waiting = known ? this.#known : this.#others
    const own = key === null ? null : (waiting.get(key)?.length ?? 0)
    if (known && own === 0) return count(waiting) < (hardCap - 1) * this.#places
    const free = (known ? Math.ceil(this.#places / knownShare) : this.#places) - count(waiting)
    return free > 0 && (own === null || own < free)
  }

  /** Waits until it is started. The caller has asked whether there is room. */
  wait({ key, known }: HashSource = ownSource): Promise<void> {
    const waiting = known ? this.#known : this.#others
    return new Promise((resolve) => waiting.set(key, [...(waiting.get(key) ?? []), resolve]))
  }

  /** How many wait. */
  size(): number {
    return count(this.#known) + count(this.#others)
  }

  /** Starts the next one: known devices and all others alternate, and so do the sources of each. False when none waits. */
  startNext(): boolean {
    const [first, second] = this.#lastWasKnown ? [this.#others, this.#known] : [this.#known, this.#others]
    const waiting = first.size > 0 ? first : second
    const [next] = waiting
    if (!next) return false
    const [key, [start, ...rest]] = next
    waiting.delete(key)
    if (rest.length > 0) waiting.set(key, rest)
    this.#lastWasKnown = waiting === this.#known
    start?.()
    return true
  }
}

function count(waiting: Waiting): number {
  return [...waiting.values()].reduce((sum, { length }) => sum + length, 0)
}
