import { createWorld } from '../lib/runtime.js'
import { expectStatus, parseBody, type SignedIn, type TestAnswer } from './answer.js'
import type { TestClock } from './clock.js'
import { type CookieJar, createCookieJar } from './cookies.js'
import type { TestMailbox } from './mailbox.js'
import { type FetchTarget, type Next, overHttp, type Send, throughAuth } from './send.js'

/** Who the client plays. */
export interface TestClientOptions {
  /**
   * `browser` (default) keeps cookies and sends `Origin` and `Sec-Fetch-*` as a page of the application does. `token`
   * is an app without cookies: `X-Auth-Mode: token`, then bearer tokens. `server` sends only what it is told to.
   */
  as?: 'browser' | 'token' | 'server'
  /** Where an `Auth` is asked. Default: `http://localhost:3000`, as in `testSettings`. */
  baseUrl?: string
  /** Default: `/auth`. */
  basePath?: string
  /** The client's address when an `Auth` is asked. Default: `127.0.0.1`. */
  ip?: string
  /** What lies behind the guard when an `Auth` is asked. Default: nothing, 404. */
  next?: Next
  /** Sent with every request. */
  headers?: Readonly<Record<string, string>>
  /** What cookies expire by. Default: the real time. */
  clock?: Pick<TestClock, 'now'>
  /** Where `signUp` finds the mail that confirms the address. */
  mailbox?: TestMailbox
}

export interface TestRequestOptions {
  /** Over the client's own; null leaves one out. */
  headers?: Readonly<Record<string, string | null>>
}

export interface TestCredentials {
  email: string
  password: string
}

/** A browser, an app or a server that talks to the application. Follows no redirect, unless it plays a navigation. */
export interface TestClient {
  readonly cookies: CookieJar
  get<Body = unknown>(path: string, options?: TestRequestOptions): Promise<TestAnswer<Body>>
  post<Body = unknown>(path: string, body?: unknown, options?: TestRequestOptions): Promise<TestAnswer<Body>>
  put<Body = unknown>(path: string, body?: unknown, options?: TestRequestOptions): Promise<TestAnswer<Body>>
  patch<Body = unknown>(path: string, body?: unknown, options?: TestRequestOptions): Promise<TestAnswer<Body>>
  delete<Body = unknown>(path: string, body?: unknown, options?: TestRequestOptions): Promise<TestAnswer<Body>>

  /** Opens a page as the address line does, following up to ten redirects. */
  open(path: string, options?: TestRequestOptions): Promise<TestAnswer<string>>

  /** Posts a form as a page of the application does, following up to ten redirects. */
  submit(
    path: string,
    fields: Readonly<Record<string, string>>,
    options?: TestRequestOptions,
  ): Promise<TestAnswer<string>>

  /**
   * Registers and confirms by the link in the mail, which needs the `mailbox` option.
   *
   * @throws {Error} A step was refused; the message names it, its status and its code.
   */
  signUp(account: TestCredentials & Readonly<Record<string, unknown>>): Promise<TestAnswer<SignedIn>>

  /** Signs in with a password. Throws like `signUp`. */
  signIn(credentials: TestCredentials): Promise<TestAnswer<SignedIn>>

  /** Asks for fresh tokens; whatever the answer is. */
  refresh(): Promise<TestAnswer<SignedIn>>

  /** Ends the session; whatever the answer is. */
  signOut(): Promise<TestAnswer>

  /** The tokens of token mode; null before a sign-in and in every other mode. */
  tokens(): { accessToken: string; refreshToken: string } | null

  /** The same client as a thief or a restored backup has it: cookies and tokens as they are now, from here on its own. */
  copy(): TestClient
}

/**
 * Makes a client for an `Auth` (no socket) or for a running server, by its address.
 *
 * @example
 * const client = createTestClient(auth, { mailbox, clock })
 * await client.signUp({ email: 'ada@example.test', password: 'correct horse battery' })
 * expect((await client.get('/auth/me')).body).toMatchObject({ user: { email: 'ada@example.test' } })
 *
 * @example
 * const app = createTestClient('http://localhost:3000', { as: 'token' })
 */
export function createTestClient(target: FetchTarget | string | URL, options: TestClientOptions = {}): TestClient {
  const remote = typeof target === 'string' || target instanceof URL
  const send = remote ? overHttp : throughAuth(target, options.ip ?? '127.0.0.1', options.next)
  const baseUrl = new URL(remote ? target : (options.baseUrl ?? 'http://localhost:3000'))
  return new Client(send, baseUrl, options)
}

const MAX_REDIRECTS = 10
const REDIRECTS = new Set([301, 302, 303, 307, 308])

class Client implements TestClient {
  readonly cookies: CookieJar
  readonly #send: Send
  readonly #baseUrl: URL
  readonly #options: TestClientOptions
  readonly #authPath: string
  #tokens: { accessToken: string; refreshToken: string } | null = null

  constructor(send: Send, baseUrl: URL, options: TestClientOptions) {
    this.cookies = createCookieJar(options.clock?.now ?? createWorld().now)
    this.#send = send
    this.#baseUrl = baseUrl
    this.#options = options
    this.#authPath = options.basePath ?? '/auth'
  }

  get<Body>(path: string, options?: TestRequestOptions) {
    return this.#ask<Body>('GET', path, undefined, options)
  }

  post<Body>(path: string, body?: unknown, options?: TestRequestOptions) {
    return this.#ask<Body>('POST', path, body, options)
  }

  put<Body>(path: string, body?: unknown, options?: TestRequestOptions) {
    return this.#ask<Body>('PUT', path, body, options)
  }

  patch<Body>(path: string, body?: unknown, options?: TestRequestOptions) {
    return this.#ask<Body>('PATCH', path, body, options)
  }

  delete<Body>(path: string, body?: unknown, options?: TestRequestOptions) {
    return this.#ask<Body>('DELETE', path, body, options)
  }

  open(path: string, options: TestRequestOptions = {}) {
    return this.#navigate('GET', path, null, { 'sec-fetch-site': 'none', ...options.headers })
  }

  submit(path: string, fields: Readonly<Record<string, string>>, options: TestRequestOptions = {}) {
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    return this.#navigate('POST', path, String(new URLSearchParams(fields)), { ...form, ...options.headers })
  }

  async signUp(account: TestCredentials & Readonly<Record<string, unknown>>) {
    const mailbox = this.#options.mailbox
    const registered = await this.post<SignedIn>(`${this.#authPath}/register`, account)
    if (registered.status === 201) return registered
    expectStatus(registered, 202, 'register')

    if (!mailbox) throw new Error('signUp needs the mailbox option to confirm the address')
    const token = mailbox.token(await mailbox.waitFor(account.email))
    const proof = this.#plays('browser') ? { token } : { token, password: account.password }
    const confirmed = await this.post<SignedIn>(`${this.#authPath}/verify-email`, proof)
    return expectStatus(confirmed, 200, 'verify-email')
  }

  async signIn(credentials: TestCredentials) {
    return expectStatus(await this.post<SignedIn>(`${this.#authPath}/login`, credentials), 200, 'login')
  }

  refresh() {
    return this.post<SignedIn>(`${this.#authPath}/refresh`, this.#refreshToken())
  }

  async signOut() {
    const answer = await this.post(`${this.#authPath}/logout`, this.#refreshToken())
    this.#tokens = null
    return answer
  }

  tokens() {
    return this.#tokens
  }

  copy(): TestClient {
    const other = new Client(this.#send, this.#baseUrl, this.#options)
    for (const cookie of this.cookies.all()) other.cookies.put(cookie)
    other.#tokens = this.#tokens
    return other
  }

  #plays(role: TestClientOptions['as']): boolean {
    return (this.#options.as ?? 'browser') === role
  }

  #refreshToken(): { refreshToken: string } | undefined {
    return this.#tokens ? { refreshToken: this.#tokens.refreshToken } : undefined
  }

  async #ask<Body>(method: string, path: string, body: unknown, options: TestRequestOptions = {}) {
    const json: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' }
    const text = body === undefined ? null : JSON.stringify(body)
    return this.#exchange<Body>(method, new URL(path, this.#baseUrl), text, { ...json, ...options.headers })
  }

  async #navigate(method: string, path: string, body: string | null, headers: Record<string, string | null>) {
    const navigation = { accept: 'text/html,*/*;q=0.8', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
    let answer = await this.#exchange<string>(method, new URL(path, this.#baseUrl), body, { ...navigation, ...headers })
    for (let hop = 0; REDIRECTS.has(answer.status) && hop < MAX_REDIRECTS; hop += 1) {
      const to = new URL(answer.headers.get('location') ?? '', answer.url)
      answer = await this.#exchange<string>('GET', to, null, navigation)
    }
    return answer
  }

  async #exchange<Body>(method: string, url: URL, body: string | null, headers: Record<string, string | null>) {
    const sent = layered(this.#headers(method, url), this.#options.headers ?? {}, headers)
    const { status, headers: received, text } = await this.#send({ method, url, headers: sent, body })
    const cookies = this.#plays('browser') ? this.cookies.receive(url, received.getSetCookie()) : []
    const answer = { status, headers: received, body: parseBody<Body>(received, text), text, cookies, url }
    if (this.#plays('token')) this.#keepTokens(answer.body)
    return answer
  }

  #headers(method: string, url: URL): Record<string, string> {
    if (this.#plays('server')) return {}
    if (this.#plays('token')) return this.#tokenHeaders(url)

    const headers: Record<string, string> = { 'user-agent': 'Mozilla/5.0 (latchkey test browser)' }
    Object.assign(headers, { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' })
    if (method !== 'GET' && method !== 'HEAD') headers.origin = this.#baseUrl.origin
    const cookie = this.cookies.header(url)
    if (cookie !== null) headers.cookie = cookie
    return headers
  }

  /** The refresh token is the credential at refresh and logout; an expired bearer beside it would be a second one. */
  #tokenHeaders(url: URL): Record<string, string> {
    const alone = [`${this.#authPath}/refresh`, `${this.#authPath}/logout`].includes(url.pathname)
    if (!this.#tokens || alone) return { 'x-auth-mode': 'token' }
    return { 'x-auth-mode': 'token', authorization: `Bearer ${this.#tokens.accessToken}` }
  }

  /** An answer with an access token alone leaves the refresh token as it is. */
  #keepTokens(body: unknown): void {
    if (typeof body !== 'object' || body === null || !('accessToken' in body)) return
    const refreshToken = 'refreshToken' in body ? body.refreshToken : this.#tokens?.refreshToken
    if (refreshToken === undefined) return
    this.#tokens = { accessToken: String(body.accessToken), refreshToken: String(refreshToken) }
  }
}

/** Later layers win whatever the case of the name; null leaves a header out. */
function layered(...layers: Readonly<Record<string, string | null>>[]): Record<string, string> {
  const headers = new Map(layers.flatMap(Object.entries).map(([name, value]) => [name.toLowerCase(), value]))
  return Object.fromEntries([...headers].filter(([, value]) => value !== null))
}
