import type { World } from '../../lib/runtime.js'
import { isFolderLarger, type ProcessFacts } from './process-facts.js'

interface Watched {
  pid: number
  memoryBytes: number
  temporaryFolder: string
  temporaryBytes: number
  facts: ProcessFacts
  world: Pick<World, 'monotonic' | 'timer'>
  /** The process has broken a bound. Called once, with a sentence that says which. */
  onBreach(reason: string): void
}

export interface Watchdog {
  /** From the first one on, the next is due within 10 s. */
  heartbeat(): void
  /** As it was a second ago, in bytes; 0 before. */
  memoryBytes(): number
  stop(): void
}

const tickMs = 1_000
const silenceMs = 10_000
/** The host itself did not run for this long, so it could not hear heartbeats. */
const sleptMs = 5_000
/** Buffers and code stand beside the heap. */
const memoryFactor = 1.5
/** The temporary folder is read every so many ticks. */
const folderTicks = 10
const mebibyte = 1024 * 1024

/** Watches one process until it is stopped or the process breaks a bound. */
export function startWatchdog(watched: Watched): Watchdog {
  const { world } = watched
  let lastBeat: number | null = null
  let memory = 0
  let ticks = 0
  let lastTick = world.monotonic()
  let isStopped = false
  let cancel = world.timer(tickMs, tick)

  function silence(): string | null {
    const now = world.monotonic()
    if (now - lastTick > sleptMs && lastBeat !== null) lastBeat = now
    lastTick = now
    return lastBeat !== null && now - lastBeat > silenceMs ? 'It sent no heartbeat for 10 s: an endless loop.' : null
  }

  async function excess(): Promise<string | null> {
    memory = (await watched.facts.memoryOf(watched.pid)) ?? memory
    if (memory > watched.memoryBytes * memoryFactor) {
      return `It used ${Math.round(memory / mebibyte)} MiB of memory. The limit is ${Math.round(watched.memoryBytes / mebibyte)} MiB of heap, and half as much beside it.`
    }
    if (ticks % folderTicks !== 0) return null
    const isFull = await isFolderLarger(watched.temporaryFolder, watched.temporaryBytes)
    return isFull ? `Its temporary files have more than ${Math.round(watched.temporaryBytes / mebibyte)} MiB.` : null
  }

  function tick(): void {
    ticks += 1
    void judge().then((reason) => {
      if (isStopped) return
      if (reason === null) cancel = world.timer(tickMs, tick)
      else {
        isStopped = true
        watched.onBreach(reason)
      }
    })
  }

  async function judge(): Promise<string | null> {
    return silence() ?? (await excess())
  }

  return {
    heartbeat() {
      lastBeat = world.monotonic()
    },
    memoryBytes: () => memory,
    stop() {
      isStopped = true
      cancel()
    },
  }
}
