import { AuthError } from '../errors.js'
import { realMonotonic } from '../lib/runtime.js'
import type { Early } from './early.js'
import type { Home } from './home.js'
import type { Live } from './open.js'

/** The store and everything on it. It opens late and, after a failure, again. */
export interface Opening {
  /** Begins to open, unless that was tried before or `hold` was called. */
  start(): void
  /** From now on the store opens only when it is needed. False: it has begun to open already, or is closed. */
  hold(): boolean
  live(): Live | null
  /** @throws the fault of the store or the keys */
  ready(): Promise<Live>
  close(): Promise<void>
}

/** Requests try again to open a store that could not be opened, at most this often. */
const reopenAfterMs = 1_000

/** @param home null: an application */
export function createOpening(early: Early, home: Home | null = null): Opening {
  let live: Live | null = null
  let pending: Promise<Live> | null = null
  let failure: { error: unknown; atMs: number } | null = null
  let closing: Promise<void> | null = null
  let held = false

  async function tryOpen(): Promise<Live> {
    try {
      early.announceMailbox()
      // Everything behind the front door, and the store's driver, load while the application continues its start.
      const { open } = await import('./open.js')
      live = await open(early, home)
      return live
    } catch (error) {
      failure = { error, atMs: realMonotonic() }
      pending = null
      early.settings.logger.error(openingFault(error), 'Latchkey cannot open its store; requests get 503.')
      throw error
    }
  }

  function ready(): Promise<Live> {
    if (closing) return Promise.reject(new AuthError('store_unavailable', { detail: 'Latchkey is closed.' }))
    if (live) return Promise.resolve(live)
    if (!pending && failure && realMonotonic() - failure.atMs < reopenAfterMs) return Promise.reject(failure.error)
    pending ??= tryOpen()
    return pending
  }

  async function closeAll(): Promise<void> {
    const opened = live ?? (await pending?.catch(() => null)) ?? null
    live = null
    await opened?.close()
  }

  return {
    start() {
      if (!held && !live && !pending && !failure) ready().catch(() => {})
    },
    hold() {
      if (live !== null || pending !== null || closing !== null) return false
      held = true
      return true
    },
    live: () => live,
    ready,
    close() {
      closing ??= closeAll()
      return closing
    },
  }
}

/** The message is our own when a store cannot open. It names the folder or the key and holds no secret. */
function openingFault(error: unknown): Record<string, unknown> {
  return { event: 'store_unavailable', error: error instanceof Error ? error.message : String(error) }
}
