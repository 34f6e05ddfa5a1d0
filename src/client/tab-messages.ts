import { type Browser, now, type Shared, sleep } from './browser.js'

/** The newest thing that a tab has to tell the others. It stands in the storage, so it never holds a token or a name. */
export interface TabMessage {
  /** Unix milliseconds. */
  at: number
  /**
   * `in`: a session began. `out`: nobody is signed in. `changed`: the account of the session did. `fresh`: only the tokens
   * did. `wait`: no refresh before `until`.
   */
  kind: 'in' | 'out' | 'changed' | 'fresh' | 'wait'
  /** Of `wait`, Unix milliseconds. */
  until?: number
  /** Of `wait`: what the server answered with; 0 where it could not be reached. */
  status?: number
  code?: string
}

export interface Board {
  /** The newest, whoever published it; null when there is none, or it claims to come from the future. */
  latest(): TabMessage | null
  publish(message: Omit<TabMessage, 'at'>): TabMessage
  /** Waits for the next, of this tab or another. */
  next(): Promise<void>
  /** Waits until what this tab has published is sure to be seen by the others. */
  settled(): Promise<void> | null
}

/** Browsers carry the storage from process to process a little later than a lock. */
const settleMs = 100

/**
 * Where tabs tell each other what they did, through one entry of the storage: unlike a message, it is still there when a
 * tab wakes up late.
 *
 * @param onNews called for what others published; `late` when it was found on waking up, perhaps not the only one missed
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
      // Not checked further, to keep the client small: every script of the origin may write there, and does no harm.
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
