import { describe, expect, test } from 'vitest'
import type { LatchkeySettings } from '../../../src/index.js'
import { createKeyring } from '../../../src/lib/keyring.js'
import { ada, testAuth } from '../../support/auth.js'
import { adaAtGoogle, comeBack, enterAs, goTo, landedAt, oauthWorld } from '../../support/oauth.js'
import { enrol, firstStep } from '../../support/totp.js'
import { watchedDatabase } from '../../support/watched-database.js'

const encryptionKey = 'malformed-payloads-key-0123456789abcdefghij'
const keyring = createKeyring([encryptionKey])

/** Sealed by the right key for the right row, as a version with another idea of the payload would. */
const malformed = ['null', '[]', '"text"', '{}', '{"version":"1","typed":1,"provider":null,"email":7}', 'no JSON']

/** A world on a database whose sealed payloads can be replaced. */
function replaceable(): {
  settings: Partial<LatchkeySettings>
  replace(purpose: string, sealedFor: string, text: string): void
} {
  const { database, dialect } = watchedDatabase({})
  return {
    settings: { database: dialect, encryptionKey },
    replace(purpose, sealedFor, text) {
      const rows = database.prepare('select id from latchkey_one_time_tokens where purpose = ?').all(purpose)
      expect(rows).toHaveLength(1)
      for (const row of rows) {
        const id = typeof row === 'object' && row !== null && 'id' in row ? String(row.id) : ''
        const payload = keyring.seal(sealedFor, id, text)
        database.prepare('update latchkey_one_time_tokens set payload = ? where id = ?').run(payload, id)
      }
    },
  }
}

describe.each(malformed)('a sealed payload that holds %s', (text) => {
  test('of a sign-in at a provider ends it as oauth_state', async () => {
    const { settings, replace } = replaceable()
    const world = await oauthWorld(settings)
    const browser = world.client()
    world.peer.signInAs(adaAtGoogle)
    const callback = world.peer.answer(await goTo(browser))
    replace('oauth_state', 'oauth-state', text)
    expect(landedAt(await comeBack(browser, callback))).toContain('error=oauth_state')
    replace('oauth_landed', 'oauth-landing', text)
    expect(landedAt(await comeBack(browser, callback))).toContain('error=oauth_state')
  })

  test('of a newcomer from a provider is no newcomer', async () => {
    const { settings, replace } = replaceable()
    const world = await oauthWorld(settings)
    const browser = world.client()
    await enterAs(world, browser, { id: '7', name: 'Ada' }, 'github')
    replace('oauth_identity', 'oauth-identity', text)
    const answer = await browser.post('/auth/register/identity', { email: ada.email })
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_token' } })
  })

  test('of a registration confirms nothing', async () => {
    const { settings, replace } = replaceable()
    const { client, mailbox } = await testAuth(settings)
    const browser = client()
    await browser.post('/auth/register', ada)
    const token = mailbox.token(await mailbox.waitFor(ada.email))
    replace('registration', 'registration-payload', text)
    const answer = await browser.post('/auth/verify-email', { token, password: ada.password })
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_token' } })
  })

  test('of a first step leads to no second', async () => {
    const { settings, replace } = replaceable()
    const { client, runtime } = await testAuth(settings)
    const browser = client()
    await browser.signUp(ada)
    const factor = await enrol(browser, ada.password, runtime.clock)
    const challenge = await firstStep(client({ as: 'token' }), ada)
    replace('two_factor', 'two-factor-payload', text)
    const code = await factor.nextCode()
    const answer = await client({ as: 'token' }).post('/auth/login/two-factor', { challenge, code })
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_token' } })
  })

  test('of a change of address changes nothing', async () => {
    const { settings, replace } = replaceable()
    const { client, mailbox } = await testAuth(settings)
    const browser = client()
    await browser.signUp(ada)
    await browser.post('/auth/email/change', { newEmail: 'ada@new.test', password: ada.password })
    const token = mailbox.token(await mailbox.waitFor('ada@new.test'))
    replace('email_change', 'email_change-payload', text)
    const answer = await client().post('/auth/email/confirm', { token })
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_token' } })
  })
})
