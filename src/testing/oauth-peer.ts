import type { SettingsInput } from '../wiring/settings.js'
import { createTestClock, type TestClock } from './clock.js'
import { PeerDesk } from './peer-desk.js'
import type { PeerAccount } from './peer-sites.js'
import { createPeerClients, type PeerApplication, peerSites } from './peer-sites.js'

/** A request that reached the peer. */
export interface PeerRequest {
  method: string
  url: string
  /** Fields of the posted form; empty when there was none. */
  form: Readonly<Record<string, string>>
}

/** An offline OAuth provider: Google, GitHub and an OpenID issuer in one. */
export interface OAuthPeer {
  /** For `createTestRuntime`. It answers the providers' URLs. Every other request fails with an error that names its URL. */
  fetch: typeof globalThis.fetch
  /** The clock that dates its tokens. The runtime must use the same one. */
  clock: TestClock
  /** The settings `google`, `github` and `oauth.company` of the application, for `testSettings`. */
  settings: Pick<SettingsInput, 'google' | 'github' | 'oauth'>
  /** Sets who uses the browser from now on. */
  signInAs(account: PeerAccount): void
  /**
   * The provider's answer after the person has agreed: the URL of the callback route, with code and state.
   *
   * @throws {Error} The provider would show an error instead: another client, another `REDIRECT_URI`, no S256 challenge.
   */
  answer(authorizationUrl: string): string
  /** The answer after the person has refused: the callback with `error` (default `access_denied`) and state. */
  refuse(authorizationUrl: string, error?: string): string
  /** All requests through `fetch`, oldest first. */
  readonly requests: readonly PeerRequest[]
}

export interface OAuthPeerOptions extends PeerApplication {
  /** Default: a new `createTestClock()`. */
  clock?: TestClock
  /** The name of the OpenID issuer. Default: `https://id.company.test`. */
  issuer?: string
}

/**
 * Makes an offline provider that checks what real ones check: client and secret, `REDIRECT_URI` letter for letter, PKCE,
 * codes that work once and for ten minutes. Its id_tokens are signed with a real RSA key.
 *
 * @example
 * const peer = createOAuthPeer()
 * const runtime = createTestRuntime({ clock: peer.clock, fetch: peer.fetch })
 * const auth = createAuth(testSettings({ ...peer.settings, mailbox }), runtime)
 *
 * peer.signInAs({ id: '42', email: 'ada@gmail.com', name: 'Ada' })
 * const start = await client.get('/auth/oauth/google')
 * const callback = new URL(peer.answer(start.headers.get('location') ?? ''))
 * const answer = await client.get(callback.pathname + callback.search) // signed in
 */
export function createOAuthPeer(options: OAuthPeerOptions = {}): OAuthPeer {
  const { clock = createTestClock(), issuer = 'https://id.company.test' } = options
  const clients = createPeerClients(options, issuer)
  const desk = new PeerDesk({ clock, clients, sites: peerSites(issuer) })
  const requests: PeerRequest[] = []
  let person: PeerAccount | null = null

  return {
    clock,
    settings: { google: clients.google, github: clients.github, oauth: { company: clients.openid } },
    requests,
    async fetch(input, init) {
      const request = new Request(input, init)
      const form = Object.fromEntries(new URLSearchParams(await request.clone().text()))
      requests.push({ method: request.method, url: request.url, form })
      return desk.respond(request, form)
    },
    signInAs(account) {
      person = account
    },
    answer(authorizationUrl) {
      if (person === null) throw new Error('There is no person who could agree. Call signInAs first.')
      return desk.grant(authorizationUrl, person)
    },
    refuse: (authorizationUrl, error = 'access_denied') => desk.deny(authorizationUrl, error),
  }
}
