import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { afterEach, beforeEach, describe, expect, expectTypeOf, test, vi } from 'vitest'
import type { PasskeyAnswer, PasskeySignals } from '../../src/client/ceremonies.js'
import { PasskeyError, passkeysIn } from '../../src/client/passkeys.js'
import { AuthClientError } from '../../src/client.js'
import type { Signals } from '../../src/flows/passkeys/list.js'
import type { PasskeyEntry } from '../../src/model/factors/passkey-entry.js'
import { type FakeBrowser, fakePasskeys } from '../support/fake-passkeys.js'

const rpId = 'app.example.test'
const session = { user: { id: 'u1' }, session: { id: 's1' } }
const signals = {
  rpId,
  userId: 'aGFuZGxl',
  credentialIds: ['a', 'b'],
  name: 'alice@example.test',
  displayName: 'Alice',
}

let browser: FakeBrowser
beforeEach(() => {
  browser = fakePasskeys(rpId)
  browser.answers.set('POST /passkeys/login', session).set('GET /passkeys', { signals })
})
afterEach(() => {
  vi.useRealTimers()
})

const client = () => passkeysIn(browser.world, browser.auth)

/** The client declares its own types, so that a browser's project compiles nothing of the server. `tsc` compares them here. */
test('its types are those of what the server answers', () => {
  expectTypeOf<PasskeyAnswer>().toEqualTypeOf<PasskeyEntry>()
  expectTypeOf<PasskeySignals>().toEqualTypeOf<Signals>()
})

test('it is at most 1.2 kB, minified and gzipped, and takes nothing of the client or the server along', async () => {
  const entry = fileURLToPath(new URL('../../src/client/passkeys.ts', import.meta.url))
  const bundle = await build({
    entryPoints: [entry],
    bundle: true,
    format: 'esm',
    minify: true,
    write: false,
    metafile: true,
  })
  expect(gzipSync(bundle.outputFiles[0]?.contents ?? '', { level: 9 }).byteLength).toBeLessThanOrEqual(1200)
  const inputs = Object.keys(bundle.metafile.inputs)
  expect(inputs.filter((path) => !/^src\/client\/(passkey|ceremonies)/.test(path))).toEqual([])
})

describe('with a dialog', () => {
  test('signs in: options, signature, answer, and what the browser may know', async () => {
    const { signInWithPasskey, supported } = client()
    expect(supported()).toBe(true)
    browser.respond({ id: 'a' })
    expect(await signInWithPasskey()).toEqual(session)
    expect(browser.sent).toEqual([
      ['POST /passkeys/login/options', undefined],
      ['POST /passkeys/login', { response: { id: 'a' } }],
      ['GET /passkeys', undefined],
    ])
    expect(browser.asked[0]).toMatchObject({ kind: 'get', publicKey: { parsed: { rpId } }, mediation: undefined })
    expect(browser.signalled).toEqual([
      ['all', { ...signals, allAcceptedCredentialIds: ['a', 'b'] }],
      ['details', signals],
    ])
  })

  test('adds a passkey: the password goes to the options only, the name to the passkey only', async () => {
    browser.answers.set('POST /passkeys', { passkey: { id: 'p1' } })
    browser.respond({ id: 'new' })
    expect(await client().addPasskey({ password: 'secret', name: 'Phone' })).toEqual({ passkey: { id: 'p1' } })
    expect(browser.sent.slice(0, 2)).toEqual([
      ['POST /passkeys/options', { password: 'secret' }],
      ['POST /passkeys', { response: { id: 'new' }, name: 'Phone' }],
    ])
    expect(browser.asked[0]).toMatchObject({ kind: 'create' })
    expect(browser.signalled).toHaveLength(2)
  })

  test('proves a second step and a recent sign-in', async () => {
    browser.answers.set('POST /login/two-factor', session).set('POST /reauthenticate', session)
    browser.respond({ id: 'a' }, { id: 'a' })
    expect(await client().verifyTwoFactor({ challenge: 'c' })).toEqual(session)
    expect(await client().reauthenticate()).toEqual(session)
    expect(browser.sent.filter(([line]) => line.startsWith('POST'))).toEqual([
      ['POST /login/two-factor/options', { challenge: 'c' }],
      ['POST /login/two-factor', { challenge: 'c', response: { id: 'a' } }],
      ['POST /reauthenticate/options', undefined],
      ['POST /reauthenticate', { response: { id: 'a' } }],
    ])
  })

  test.each([
    ['NotAllowedError', 'cancelled'],
    ['AbortError', 'cancelled'],
    ['InvalidStateError', 'already_added'],
    ['SecurityError', 'failed'],
  ])('%s of the browser is %s, with its words', async (name, code) => {
    browser.refuse(new DOMException('It said so.', name))
    const error = await client()
      .addPasskey()
      .catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(PasskeyError)
    expect(error).toMatchObject({ name: 'PasskeyError', code, message: 'It said so.', cause: { name } })
    expect(browser.sent).toHaveLength(1)
  })

  test('where the browser has no passkeys, nothing is sent but the question, and the error says so', async () => {
    const { supported, signInWithPasskey, autofill, upgrade } = passkeysIn({}, browser.auth)
    expect(supported()).toBe(false)
    autofill({ autocomplete: 'username' })()
    expect(await upgrade()).toBeNull()
    await expect(signInWithPasskey()).rejects.toMatchObject({ code: 'unsupported' })
    expect(browser.sent).toEqual([['POST /passkeys/login/options', undefined]])
  })

  test('one at a time: the next one ends the one before it', async () => {
    const { signInWithPasskey } = client()
    const first = signInWithPasskey().catch((error: unknown) => error)
    await vi.waitFor(() => expect(browser.asked).toHaveLength(1))
    browser.respond({ id: 'a' })
    expect(await signInWithPasskey()).toEqual(session)
    expect(await first).toMatchObject({ code: 'cancelled' })
  })
})

describe('what the browser is told', () => {
  test('a passkey that no account has is forgotten, and only on the word of the server', async () => {
    const refuse = (unknown?: true) =>
      browser.answers.set(
        'POST /passkeys/login',
        new AuthClientError(401, { code: 'unauthenticated', ...(unknown && { unknown }) }),
      )
    refuse()
    browser.respond({ id: 'gone' }, { id: 'gone' })
    await expect(client().signInWithPasskey()).rejects.toThrow(AuthClientError)
    expect(browser.signalled).toEqual([])
    refuse(true)
    await expect(client().signInWithPasskey()).rejects.toMatchObject({ unknown: true })
    expect(browser.signalled).toEqual([['unknown', { rpId, credentialId: 'gone' }]])
  })

  test('signals on their own, after a change of the page', async () => {
    await client().signal()
    expect(browser.sent).toEqual([['GET /passkeys', undefined]])
    expect(browser.signalled.map(([kind]) => kind)).toEqual(['all', 'details'])
  })

  test('an account that never asked for a passkey signals nothing', async () => {
    browser.answers.set('GET /passkeys', { signals: null })
    await client().signal()
    expect(browser.signalled).toEqual([])
  })

  test('signals that fail change nothing', async () => {
    browser.answers.set('GET /passkeys', new Error('no answer'))
    browser.respond({ id: 'a' })
    expect(await client().signInWithPasskey()).toEqual(session)
    expect(await client().signal()).toBeUndefined()
  })
})

describe('autofill', () => {
  const begun = (count: number) => vi.waitFor(() => expect(browser.asked).toHaveLength(count))

  test('offers passkeys in the field until one signs in', async () => {
    const field = { autocomplete: 'email' }
    const onSignedIn = vi.fn()
    client().autofill(field, { onSignedIn })
    expect(field.autocomplete).toBe('username webauthn')
    await begun(1)
    expect(browser.asked[0]).toMatchObject({ kind: 'get', mediation: 'conditional' })
    browser.respond({ id: 'a' })
    await vi.waitFor(() => expect(onSignedIn).toHaveBeenCalledWith(session))
    expect(browser.signalled).toHaveLength(2)
  })

  test('gets a fresh challenge 30 s before the old one ends', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const onError = vi.fn()
    const stop = client().autofill({ autocomplete: 'username webauthn' }, { onError })
    await vi.advanceTimersByTimeAsync(0)
    expect(browser.asked).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(269_999)
    expect(browser.asked).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(1)
    expect(browser.asked).toHaveLength(2)
    expect(browser.asked[0]?.signal.aborted).toBe(true)
    expect(browser.asked[1]?.signal.aborted).toBe(false)
    stop()
    expect(browser.asked[1]?.signal.aborted).toBe(true)
    await vi.advanceTimersByTimeAsync(3_600_000)
    expect(browser.asked).toHaveLength(2)
    expect(onError).not.toHaveBeenCalled()
  })

  test('ends for a dialog and goes on when that was cancelled', async () => {
    const { autofill, signInWithPasskey } = client()
    autofill({ autocomplete: 'username webauthn' })
    await begun(1)
    const dialog = signInWithPasskey().catch((error: unknown) => error)
    await begun(2)
    expect(browser.asked[0]?.signal.aborted).toBe(true)
    browser.refuse(new DOMException('', 'NotAllowedError'))
    expect(await dialog).toMatchObject({ code: 'cancelled' })
    await begun(3)
    expect(browser.asked[2]).toMatchObject({ mediation: 'conditional' })
    expect(browser.asked[2]?.signal.aborted).toBe(false)
  })

  test('a browser that refuses at once is asked six times, not for ever', async () => {
    const onError = vi.fn()
    browser.refuse(...Array.from({ length: 20 }, () => new DOMException('', 'NotAllowedError')))
    client().autofill({ autocomplete: 'username webauthn' }, { onError })
    await vi.waitFor(() => expect(onError).toHaveBeenCalledTimes(6))
    expect(onError.mock.calls[0]?.[0]).toMatchObject({ code: 'cancelled' })
    expect(browser.asked).toHaveLength(6)
  })

  test('asks for nothing where the browser has no autofill', async () => {
    browser.able.conditionalGet = false
    client().autofill({ autocomplete: 'username webauthn' })
    await Promise.resolve()
    expect(browser.sent).toEqual([])
  })
})

describe('upgrade', () => {
  test('makes a passkey without a dialog', async () => {
    browser.answers.set('POST /passkeys', { passkey: { id: 'p1' } })
    browser.respond({ id: 'new' })
    expect(await client().upgrade()).toEqual({ passkey: { id: 'p1' } })
    expect(browser.sent[0]).toEqual(['POST /passkeys/options', { upgrade: true }])
    expect(browser.asked[0]).toMatchObject({ kind: 'create', mediation: 'conditional' })
  })

  test('is silent: null where the browser cannot, will not, or the server refuses', async () => {
    browser.refuse(new DOMException('', 'NotAllowedError'))
    expect(await client().upgrade()).toBeNull()
    browser.answers.set('POST /passkeys/options', new AuthClientError(403))
    expect(await client().upgrade()).toBeNull()
    browser.able.conditionalCreate = false
    browser.sent.length = 0
    expect(await client().upgrade()).toBeNull()
    expect(browser.sent).toEqual([])
  })
})
