import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/server'
import type { SignedIn, TestAnswer, TestClient } from '../../src/testing.js'
import { ada, testAuth } from './auth.js'
import {
  type Authenticator,
  type AuthenticatorOptions,
  createAuthenticator,
  type ForgedRegistration,
  type Forgery,
} from './authenticator.js'

export const origin = 'http://localhost:3000'

export interface PasskeyAnswer {
  passkey: { id: string; name: string; synced: boolean; usable: boolean; lastUsedAt: string | null }
}

interface Options<Kind> {
  options: Kind
}

/** An account with a passkey, the browser that made it, and its authenticator. */
export async function withPasskey(
  overrides: Parameters<typeof testAuth>[0] = {},
  authenticator: Partial<AuthenticatorOptions> = {},
) {
  const world = await testAuth(overrides)
  const browser = world.client()
  await browser.signUp(ada)
  const device = createAuthenticator({ origin, ...authenticator })
  const { body } = await addPasskey(browser, device)
  return { ...world, browser, device, passkey: body.passkey }
}

export async function creationOptions(browser: TestClient, body: object = {}) {
  return browser.post<Options<PublicKeyCredentialCreationOptionsJSON>>('/auth/passkeys/options', body)
}

export async function addPasskey(
  browser: TestClient,
  device: Authenticator,
  { forged, ...more }: { forged?: ForgedRegistration; name?: string } = {},
): Promise<TestAnswer<PasskeyAnswer>> {
  const { body } = await creationOptions(browser)
  return browser.post('/auth/passkeys', { response: device.register(body.options, forged), ...more })
}

export async function loginOptions(browser: TestClient): Promise<PublicKeyCredentialRequestOptionsJSON> {
  return (await browser.post<Options<PublicKeyCredentialRequestOptionsJSON>>('/auth/passkeys/login/options')).body
    .options
}

/** The whole sign-in of that browser, with what the authenticator says otherwise. */
export async function passkeyLogin(
  browser: TestClient,
  device: Authenticator,
  forged?: Forgery,
): Promise<TestAnswer<SignedIn & { code?: string; unknown?: true }>> {
  return browser.post('/auth/passkeys/login', { response: device.sign(await loginOptions(browser), forged) })
}

export async function requestOptions(
  browser: TestClient,
  path: string,
  body: object = {},
): Promise<PublicKeyCredentialRequestOptionsJSON> {
  return (await browser.post<Options<PublicKeyCredentialRequestOptionsJSON>>(path, body)).body.options
}

export async function principalOf(client: TestClient): Promise<{ amr: string[]; authTime: number; sessionId: string }> {
  const { body } = await client.get<{ principal: { amr: string[]; authTime: number; sessionId: string } }>('/api/notes')
  return body.principal
}
