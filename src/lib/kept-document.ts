import type { World } from './runtime.js'

/** Somebody else's document, read now and then: metadata, a key set. */
export interface KeptDocument<Value> {
  /** What was read within the hour; an older one only while nobody can be asked. */
  get(): Promise<Value>
  /** Reads again because this one lacks something, but no sooner than the cool-down after the last try. */
  renew(): Promise<Value>
}

/** How long a document is taken as it is. */
const freshMs = 60 * 60_000
/** How long the last good one serves through an outage. */
const staleMs = 24 * 60 * 60_000
/** Between two tries where there is something to go on with: a stranger's unknown key id must not make us ask each time. */
const coolDownMs = 30_000

/**
 * Keeps a document for an hour, and the last good one through an outage of a day. At most one read is under way, however
 * many wait for it.
 *
 * @throws what `read` throws, where nothing is left to go on with
 */
export function keepDocument<Value>(world: Pick<World, 'monotonic'>, read: () => Promise<Value>): KeptDocument<Value> {
  let kept: { value: Value; atMs: number } | null = null
  let triedAtMs = Number.NEGATIVE_INFINITY
  let reading: Promise<Value> | null = null

  async function readNow(): Promise<Value> {
    const startMs = world.monotonic()
    triedAtMs = startMs
    try {
      const value = await read()
      kept = { value, atMs: startMs }
      return value
    } catch (error) {
      if (kept !== null && world.monotonic() - kept.atMs < staleMs) return kept.value
      throw error
    } finally {
      reading = null
    }
  }

  function ask(): Promise<Value> {
    reading ??= readNow()
    return reading
  }

  async function getUnless(isOld: (ageMs: number) => boolean): Promise<Value> {
    if (kept === null) return ask()
    const nowMs = world.monotonic()
    const ageMs = nowMs - kept.atMs
    if (!isOld(ageMs)) return kept.value
    const maySpare = ageMs < staleMs && reading === null && nowMs - triedAtMs < coolDownMs
    return maySpare ? kept.value : ask()
  }

  return { get: () => getUnless((ageMs) => ageMs >= freshMs), renew: () => getUnless(() => true) }
}
