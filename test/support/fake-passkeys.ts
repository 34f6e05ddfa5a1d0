import type { PasskeyBrowser } from '../../src/client/ceremonies.js'
import type { PasskeyCalls } from '../../src/client/passkeys.js'

/** A browser with passkeys and a server, as far as `latchkey/client/passkeys` asks for them. */
export interface FakeBrowser {
  world: PasskeyBrowser
  auth: PasskeyCalls
  /** What the browser can do. */
  able: { conditionalGet: boolean; conditionalCreate: boolean }
  /** Calls of the server with their bodies, in order. */
  sent: [string, unknown][]
  /** By method and path. An `Error` refuses the call. */
  answers: Map<string, unknown>
  asked: Asked[]
  signalled: [string, unknown][]
  /** What the ceremonies give, one each: those that wait, then the next ones. */
  respond(...responses: { id: string }[]): void
  refuse(...errors: Error[]): void
}

interface Asked {
  kind: 'create' | 'get'
  publicKey: unknown
  signal: AbortSignal
  mediation: unknown
}

export function fakePasskeys(rpId: string): FakeBrowser {
  const outcomes: (Error | { id: string })[] = []
  const waiting: (() => void)[] = []
  const browser: Omit<FakeBrowser, 'world' | 'auth'> = {
    able: { conditionalGet: true, conditionalCreate: true },
    sent: [],
    answers: new Map(),
    asked: [],
    signalled: [],
    respond: (...responses) => settle(responses),
    refuse: (...errors) => settle(errors),
  }

  function settle(given: (Error | { id: string })[]): void {
    outcomes.push(...given)
    for (const wake of waiting.splice(0)) wake()
  }

  const ceremony = (kind: Asked['kind']) => async (request: Omit<Asked, 'kind'>) => {
    const { signal } = request
    browser.asked.push({ kind, ...request })
    while (!signal.aborted && outcomes.length === 0) {
      await new Promise<void>((resolve) => {
        waiting.push(resolve)
        signal.addEventListener('abort', () => resolve())
      })
    }
    if (signal.aborted) throw new DOMException('Aborted.', 'AbortError')
    const outcome = outcomes.shift()
    if (outcome === undefined || outcome instanceof Error) throw outcome
    return { id: outcome.id, toJSON: () => outcome }
  }

  const signalled = (kind: string) => async (told: unknown) => void browser.signalled.push([kind, told])
  const world: PasskeyBrowser = {
    navigator: { credentials: { create: ceremony('create'), get: ceremony('get') } },
    PublicKeyCredential: {
      parseCreationOptionsFromJSON: (parsed) => ({ parsed }),
      parseRequestOptionsFromJSON: (parsed) => ({ parsed }),
      isConditionalMediationAvailable: async () => browser.able.conditionalGet,
      getClientCapabilities: async () => browser.able,
      signalUnknownCredential: signalled('unknown'),
      signalAllAcceptedCredentials: signalled('all'),
      signalCurrentUserDetails: signalled('details'),
    },
  }

  async function call(line: string, body: unknown): Promise<unknown> {
    browser.sent.push([line, body])
    const options = { challenge: 'Y2hhbGxlbmdl', timeout: 300_000, rpId }
    const answer = browser.answers.get(line) ?? (line.endsWith('/options') ? { options } : undefined)
    if (answer instanceof Error) throw answer
    return answer
  }

  const by = (method: string) => async (path: string, body?: unknown) =>
    JSON.parse(JSON.stringify((await call(`${method} ${path}`, body)) ?? null))
  return Object.assign(browser, { world, auth: { get: by('GET'), post: by('POST') } })
}
