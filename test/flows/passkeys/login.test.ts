import { expect, test } from 'vitest'
import { passkeyLogin, startPasskeyLogin } from '../../../src/flows/passkeys/login.js'
import { signedResponse } from '../../../src/routes/passkeys/response-schema.js'
import { ada } from '../../support/auth.js'
import { createAuthenticator } from '../../support/authenticator.js'
import { liveWorld } from '../../support/live.js'
import { addPasskey, origin } from '../../support/passkey-browser.js'

const visitor = { ip: '192.0.2.1', userAgent: 'test', actor: null }

/** Fails at every use. */
const untouched: never = new Proxy({} as never, {
  get(_, name) {
    throw new Error(`passwords.${String(name)} was used`)
  },
})

test('a sign-in by passkey hashes no password, and waits for no password hash', async () => {
  const { ports, client } = await liveWorld()
  const browser = client()
  await browser.signUp(ada)
  const device = createAuthenticator({ origin })
  await addPasskey(browser, device)

  const without = { ...ports, passwords: untouched, passwordFaults: untouched }
  const { options } = await startPasskeyLogin(without, 'handle')
  const credential = device.sign({ challenge: options.challenge, rpId: options.rpId })
  const response = signedResponse.parse(credential)
  const input = { response, handle: 'handle', mode: 'cookie', visitor, device: null } as const
  expect((await passkeyLogin(without, input)).user.email).toBe(ada.email)
  expect(() => Reflect.get(untouched, 'verify')).toThrow('passwords.verify was used')
})
