import type { Browser, TabLocks } from '../../src/client/browser.js'
import { type AuthClient, type AuthClientOptions, authClientIn } from '../../src/client.js'
import { createCookieJar } from '../../src/testing/cookies.js'
import { overHttp } from '../../src/testing/send.js'
import type { AttackServer } from './attack-server.js'

/** A browser with tabs on one page of a server, as far as the client asks for one. */
export interface TestBrowser {
  /** What went out, `POST /auth/refresh`, in order. */
  sent: string[]
  cookies: ReturnType<typeof createCookieJar>
  /** What its storage holds. */
  stored: Map<string, string>
  /** In place of the server: an answer, or a failure of the network; null asks the server. */
  instead: ((method: string, path: string) => Response | Error | null | Promise<Response | Error | null>) | null
  open(options?: AuthClientOptions): TestTab
}

export interface TestTab {
  auth: AuthClient
  /** Hears nothing of the others until it wakes up. */
  sleep(): void
  wake(): void
}

export function testBrowser(server: AttackServer, has: { locks?: boolean; storage?: boolean } = {}): TestBrowser {
  const cookies = createCookieJar(server.runtime.clock.now)
  const tabs: { hear(event: string): void }[] = []
  const stored = new Map<string, string>()
  const locks = queueLocks()

  const browser: TestBrowser = {
    sent: [],
    cookies,
    stored,
    instead: null,
    open(options = {}) {
      const listeners: [string, () => void][] = []
      let asleep = false
      const tab = {
        hear(event: string) {
          if (!asleep) for (const [type, listener] of listeners) if (type === event) listener()
        },
      }
      tabs.push(tab)
      const world: Browser = {
        location: { origin: server.url },
        fetch: (input, init) => send(new Request(input, init)),
        addEventListener: (type, listener) => void listeners.push([type, listener]),
        navigator: has.locks === false ? {} : { locks },
        ...(has.storage === false ? {} : { localStorage: storageFor(tab) }),
      }
      return {
        auth: authClientIn(world, options),
        sleep() {
          asleep = true
        },
        wake() {
          asleep = false
          tab.hear('visibilitychange')
        },
      }
    },
  }

  function storageFor(own: { hear(event: string): void }) {
    return {
      getItem: (key: string) => stored.get(key) ?? null,
      setItem(key: string, value: string) {
        stored.set(key, value)
        setImmediate(() => {
          for (const tab of tabs) if (tab !== own) tab.hear('storage')
        })
      },
    }
  }

  async function send(request: Request): Promise<Response> {
    const { method } = request
    const url = new URL(request.url)
    browser.sent.push(`${method} ${url.pathname}`)
    const played = await browser.instead?.(method, url.pathname)
    if (played instanceof Error) throw played
    if (played) return played

    const cookie = request.credentials === 'omit' ? null : cookies.header(url)
    const origin = ['GET', 'HEAD'].includes(method) ? {} : { origin: server.url }
    const site = { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors', ...origin }
    const headers = { ...Object.fromEntries(request.headers), ...site, ...(cookie && { cookie }) }
    const body = request.body && (await request.text())
    const answer = await overHttp({ method, url, headers, body })
    cookies.receive(url, answer.headers.getSetCookie())
    return new Response(answer.status === 204 ? null : answer.text, answer)
  }

  return browser
}

/** Web Locks as far as the client asks: one holder a name, the others in order. */
function queueLocks(): TabLocks {
  const last = new Map<string, Promise<unknown>>()
  return {
    request(name, task) {
      const turn = (last.get(name) ?? Promise.resolve()).then(task)
      last.set(
        name,
        turn.catch(() => {}),
      )
      return turn
    },
  }
}
