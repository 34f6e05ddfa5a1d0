import { type Browser, now, type Shared, sleep } from './browser.js'

/** The newest message of a tab to the others. It is kept in the storage, so it never holds a token or a name. */
export interface TabMessage {
  /** Unix milliseconds. */
  at: number
  /**
   * `in`: a session began. `out`: no session any more. `changed`: its account changed. `fresh`: only the tokens did.
   * `wait`: no refresh before `until`.
   */
  kind: 'in' | 'out' | 'changed' | 'fresh' | 'wait'
  /** For `wait`, Unix milliseconds. */
  until?: number
  /** For `wait`: the server's status; 0 if the server could not be reached. */
  status?: number
  code?: string
}

export interface Board {
  /** The newest message of any tab; null before the first one, and when its time is in the future. */
  latest(): TabMessage | null
  publish(message: Omit<TabMessage, 'at'>): TabMessage
  /** Waits for the next message, of this tab or another. */
  next(): Promise<void>
  /** Waits until all tabs can see the message that this tab has published. */
  settled(): Promise<void> | null
}

/** Browsers pass the storage from process to process a little later than a lock. */
const settleMs = 100

/**
 * The board on which tabs publish their changes, in one entry of the storage: unlike a message, the entry is still there when
 * a tab wakes up late.
 *
 * @param onNews called for messages of other tabs; `late` when found on waking up, so earlier ones may have been missed
 */
export function createBoard(
  browser: Browser,
  shared: Shared,
  key: string,
  onMessage: (message: TabMessage, late: boolean) => void,
): Board {
  let seen: TabMessage | null = read()
  let settling: Promise<void> | null = null
  let waiting: (() => void)[] = []

  function read(): TabMessage | null {
    try {
      // Not checked further, to keep the client small. Any script of the origin may write there, and it can do no harm.
      return JSON.parse(shared.read(key))
    } catch {
      return null
    }
  }

  function look(late: boolean): void {
    const message = read()
    if (!message || message.at === seen?.at) return
    seen = message
    wake()
    onMessage(message, late)
  }

  function wake(): void {
    const woken = waiting
    waiting = []
    for (const resolve of woken) resolve()
  }

  for (const event of ['storage', 'visibilitychange', 'pageshow']) {
    browser.addEventListener?.(event, () => look(event !== 'storage'))
  }

  return {
    latest() {
      const stored = read()
      const message = (stored?.at ?? 0) > (seen?.at ?? 0) ? stored : seen
      return message && message.at <= now() ? message : null
    },
    publish(published) {
      seen = { ...published, at: now() }
      shared.write(key, JSON.stringify(seen))
      settling = sleep(settleMs)
      wake()
      return seen
    },
    next: () => new Promise((resolve) => waiting.push(resolve)),
    settled: () => settling,
  }
}
