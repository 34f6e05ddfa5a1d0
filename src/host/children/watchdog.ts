import type { World } from '../../lib/runtime.js'
import type { ProcessFacts } from './process-facts.js'

interface Watched {
  pid: number
  memoryBytes: number
  temporaryBytes: number
  /** Whether its temporary files are over their limit. */
  areFilesOver(): Promise<boolean>
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

/** Watches one process until it is stopped or the process breaks a bound. */
export function startWatchdog(watched: Watched): Watchdog {
  const { world } = watched
  let lastBeat: number | null = null
  let memory = 0
  let ticks = 0
  let nextFolder = folderTicks
  let lastTick = world.monotonic()
  let isStopped = false
  let cancel = world.timer(tickMs, tick)

  function silence(): string | null {
    const now = world.monotonic()
    if (now - lastTick > sleptMs && lastBeat !== null) lastBeat = now
    lastTick = now
    return lastBeat !== null && now - lastBeat > silenceMs ? 'It sent no heartbeat for 10 s: an endless loop.' : null
  }

  async function excessOfMemory(): Promise<string | null> {
    memory = (await watched.facts.memoryOf(watched.pid)) ?? memory
    if (memory <= watched.memoryBytes * memoryFactor) return null
    return `It used ${mebibytes(memory)} MiB of memory. The limit is ${mebibytes(watched.memoryBytes)} MiB of heap, and half as much beside it.`
  }

  async function excessOfFiles(): Promise<string | null> {
    const isFull = await watched.areFilesOver()
    nextFolder = ticks + folderTicks
    return isFull ? `Its temporary files have more than ${mebibytes(watched.temporaryBytes)} MiB.` : null
  }

  function end(reason: string | null): void {
    if (reason === null || isStopped) return
    stop()
    watched.onBreach(reason)
  }

  function tick(): void {
    ticks += 1
    cancel = world.timer(tickMs, tick)
    end(silence())
    void excessOfMemory().then(end)
    if (ticks < nextFolder) return
    // A large folder may take longer than a tick to read.
    nextFolder = Number.POSITIVE_INFINITY
    void excessOfFiles().then(end)
  }

  function stop(): void {
    isStopped = true
    cancel()
  }

  return {
    heartbeat() {
      lastBeat = world.monotonic()
    },
    memoryBytes: () => memory,
    stop,
  }
}

function mebibytes(bytes: number): number {
  return Math.round(bytes / 1024 / 1024)
}
