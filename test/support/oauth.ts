import { expect } from 'vitest'
import type { LatchkeySettings } from '../../src/index.js'
import {
  createOAuthPeer,
  createTestRuntime,
  type OAuthPeer,
  type PeerAccount,
  type TestAnswer,
  type TestClient,
} from '../../src/testing.js'
import { type TestAuth, testAuth } from './auth.js'

export type ProviderName = 'google' | 'github' | 'company'

export interface OAuthWorld extends TestAuth {
  peer: OAuthPeer
}

/** A whole Latchkey whose providers are played by the offline peer. */
export async function oauthWorld(
  overrides: Partial<LatchkeySettings> = {},
  peer: OAuthPeer = createOAuthPeer(),
): Promise<OAuthWorld> {
  const runtime = createTestRuntime({ clock: peer.clock, fetch: peer.fetch })
  return { ...(await testAuth({ ...peer.settings, ...overrides }, runtime)), peer }
}

/** The peer's company with the setting `trustEmail`. */
export function trustedCompany({ settings }: OAuthPeer): NonNullable<LatchkeySettings['oauth']> {
  const company = settings.oauth?.company
  if (!company || !('ISSUER' in company)) throw new Error('the peer plays no company')
  return { company: { ...company, trustEmail: true } }
}

/** What a browser sends with a navigation that begins on another site. */
const fromAbroad = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }

/** Where the browser is sent to. */
export async function goTo(browser: TestClient, provider: ProviderName = 'google', query = ''): Promise<string> {
  const answer = await browser.get(`/auth/oauth/${provider}${query}`)
  expect(answer.status).toBe(302)
  return answer.headers.get('location') ?? ''
}

/** The browser comes back to that address. */
export function comeBack(browser: TestClient, callback: string): Promise<TestAnswer> {
  const { pathname, search } = new URL(callback)
  return browser.get(`${pathname}${search}`, { headers: fromAbroad })
}

/** The whole way there and back as that person. */
export async function enterAs(
  { peer }: Pick<OAuthWorld, 'peer'>,
  browser: TestClient,
  account: PeerAccount,
  provider: ProviderName = 'google',
  query = '',
): Promise<TestAnswer> {
  peer.signInAs(account)
  return comeBack(browser, peer.answer(await goTo(browser, provider, query)))
}

export function landedAt(answer: TestAnswer): string | null {
  expect(answer.status).toBe(302)
  return answer.headers.get('location')
}

/** How often a provider was asked to trade a code. */
export function tokenRequests({ peer }: Pick<OAuthWorld, 'peer'>): number {
  return peer.requests.filter(({ method }) => method === 'POST').length
}

/** An address that Google speaks for, and the person behind it. */
export const adaAtGoogle = { id: '42', email: 'ada@gmail.com', name: 'Ada Lovelace' }
