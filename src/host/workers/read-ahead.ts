import { AuthError } from '../../errors.js'
import type { World } from '../../lib/runtime.js'
import type { TaskEvent } from './tasks.js'

/** How many characters of rows may wait for a slow reader, and for all of them. */
const most = { ofOne: 1024 * 1024, ofAll: 16 * 1024 * 1024 }
/** A reader whose rows fill this memory for 2 s in all is slow, in stretches of half a second. */
const slow = { stretchMs: 500, stretches: 4 }

/** The rows of all tasks that were not yet read, or that a reader still sends, in characters. */
export interface RowsHeld {
  characters: number
}

/** Whether slow readers hold all the memory there is for rows. */
export function isFull({ characters }: RowsHeld): boolean {
  return characters >= most.ofAll
}

export interface ReadAheadOptions {
  held: RowsHeld
  timer: World['timer']
  /** Asks the worker for an event. */
  ask(): void
  /** Whether another task waits for the place of this one. */
  isPlaceWanted(): boolean
  /** Called when a slow reader keeps another task waiting. */
  onSlow(fault: AuthError): void
}

/**
 * The events of a worker, which one reader takes. They are asked for before the reader wants them, so that a slow reader keeps the
 * worker only when the rows are too many for the memory.
 */
export interface ReadAhead {
  /** @throws what `end` was given, after the events that came before it */
  next(): Promise<TaskEvent>
  put(event: TaskEvent): void
  /** No event comes any more. The first fault counts. */
  end(fault: unknown): void
  /** The reader takes no event any more. */
  leave(): void
}

export function createReadAhead({ held, ask, ...patience }: ReadAheadOptions): ReadAhead {
  const waiting: TaskEvent[] = []
  const watch = createStallWatch(patience)
  const share = createShare(held)
  let isAsked = false
  let fault: { error: unknown } | null = null
  let wake = () => {}

  function askIfRoom(): void {
    if (isAsked || fault !== null) return
    // A reader that waits gets its next event, however much is held for others.
    if (waiting.length > 0 && share.isFull()) {
      watch.begin()
      return
    }
    watch.end()
    isAsked = true
    ask()
  }

  askIfRoom()
  return {
    async next() {
      share.sent()
      for (;;) {
        const event = waiting.shift()
        if (event) {
          share.handOver(sizeOf(event))
          askIfRoom()
          return event
        }
        if (fault) throw fault.error
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    },
    put(event) {
      if (fault !== null) return
      isAsked = false
      waiting.push(event)
      share.hold(sizeOf(event))
      askIfRoom()
      wake()
    },
    end(error) {
      fault ??= { error }
      watch.end()
      wake()
    },
    leave() {
      waiting.splice(0)
      share.leave()
    },
  }
}

/** What one reader holds of the memory for rows. */
function createShare(held: RowsHeld) {
  let own = 0
  let handed = 0

  function hold(characters: number): void {
    own += characters
    held.characters += characters
  }

  return {
    isFull: () => own >= most.ofOne || isFull(held),
    hold,
    /** The reader has the event and sends it. It counts until the reader asks for the next one. */
    handOver(characters: number) {
      handed = characters
    },
    sent() {
      hold(-handed)
      handed = 0
    },
    leave() {
      hold(-own)
      handed = 0
    },
  }
}

/** Counts the stretches in which the worker waits for the reader, from `begin` to `end`. Calls of `begin` in between do nothing. */
function createStallWatch({
  timer,
  isPlaceWanted,
  onSlow,
}: Pick<ReadAheadOptions, 'timer' | 'isPlaceWanted' | 'onSlow'>) {
  let cancel: (() => void) | null = null
  let stretches = 0

  function count(): void {
    stretches += 1
    if (stretches >= slow.stretches && isPlaceWanted()) onSlow(readTooSlowly())
    else cancel = timer(slow.stretchMs, count)
  }

  return {
    begin() {
      cancel ??= timer(slow.stretchMs, count)
    },
    end() {
      cancel?.()
      cancel = null
    },
  }
}

function sizeOf(event: TaskEvent): number {
  return event.kind === 'rows' ? event.text.length : 0
}

function readTooSlowly(): AuthError {
  const detail = 'The rows were read too slowly while another query waited. Set a limit, or export the collection.'
  return new AuthError('busy', { detail, retryAfterSeconds: 5 })
}
