import type { World } from './runtime.js'

/** Another party's document that is read now and then: metadata, a key set. */
export interface KeptDocument<Value> {
  /** The document as read within the last hour; an older copy only while its server does not answer. */
  get(): Promise<Value>
  /** Reads again because this copy lacks something, but not before the cool-down after the last try has passed. */
  renew(): Promise<Value>
}

/** How long a document is used without reading it again. */
const freshMs = 60 * 60_000
/** How long the last good copy serves through an outage. */
const staleMs = 24 * 60 * 60_000
/** Between two tries while a copy exists: requests with unknown key ids must not cause a fetch each. */
const coolDownMs = 30_000

/**
 * Keeps a document for an hour, and the last good copy through an outage of a day. At most one read is under way, however
 * many callers wait for it.
 *
 * @throws what `read` throws, if no usable copy is left
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
