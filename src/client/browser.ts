/**
 * What the client uses of a browser, and no more: the server's code is compiled beside it and must not see the names of
 * a page by accident. Nothing but `fetch` has to be there (old browsers, rendering on a server).
 */
export interface Browser {
  fetch: typeof globalThis.fetch
  location?: { origin: string }
  localStorage?: TabStorage
  navigator?: { locks?: TabLocks }
  /** The window's: `visibilitychange` bubbles up to it. */
  addEventListener?(type: string, listener: () => void): void
}

export interface TabStorage {
  getItem(key: string): string | null
  setItem(key: string, value: string): void
}

export interface TabLocks {
  request(name: string, task: () => Promise<void>): Promise<unknown>
}

/** Texts by name that all tabs share. */
export interface Shared {
  read(key: string): string
  write(key: string, text: string): void
}

/** The clock that all tabs share, Unix milliseconds. */
export function now(): number {
  return Date.now()
}

export function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds)
  })
}

/** Tells one holder of a lease from another; nothing is kept secret by it. */
export function mark(): string {
  return String(crypto.getRandomValues(new Uint32Array(2)))
}

/** Where a browser refuses its storage, or has no room left in it, this tab is alone. */
export function sharedIn(browser: Browser): Shared {
  const own = new Map<string, string>()
  return {
    read(key) {
      try {
        return own.get(key) ?? browser.localStorage?.getItem(key) ?? ''
      } catch {
        return ''
      }
    },
    write(key, text) {
      try {
        own.delete(key)
        if (browser.localStorage) browser.localStorage.setItem(key, text)
        else own.set(key, text)
      } catch {
        own.set(key, text)
      }
    },
  }
}
