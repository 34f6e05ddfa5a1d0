import { afterEach, describe, expect, test } from 'vitest'
import type { TestClient } from '../../../src/testing.js'
import { type AttackServer, ada, attackServer } from '../../support/attack-server.js'
import { enrol, firstStep } from '../../support/totp.js'

const subject = 'Deletion of your account'
const { password } = ada
const thiefsAddress = 'thief@example.test'

let server: AttackServer
afterEach(() => server.close())

/** The owner's account with an address that a thief has changed; the undo that the owner holds. */
async function stolen() {
  server = await attackServer({ file: true })
  const thief = server.client()
  await thief.signUp(ada)
  await thief.post('/auth/email/change', { newEmail: thiefsAddress, password })
  const token = server.mailbox.token(await server.mailbox.waitFor(thiefsAddress, 'Confirm your new email address'))
  expect((await thief.post('/auth/email/confirm', { token })).status).toBe(200)
  const undo = server.mailbox.token(await server.mailbox.waitFor(ada.email, 'Your email address was changed'))
  return { thief, undo }
}

function deletes(client: TestClient, body: Record<string, unknown>) {
  return client.delete('/auth/me', body)
}

const users = () => server.sql<{ n: number }>('select count(*) as n from latchkey_users')[0]?.n
/** So much time passes, and then the next round of housekeeping. */
async function passes(seconds: number): Promise<void> {
  const { clock } = server.runtime
  await clock.set(clock.now() + seconds * 1_000)
  await clock.advance('15m')
}
const events = () =>
  server
    .sql<{ event: string }>("select event from latchkey_audit where event like 'account_del%' order by seq")
    .map(({ event }) => event)

describe('an account that its user deletes', () => {
  test('ATK-294 of a thief who changed the address waits, disabled, mails both, and the undo restores it', async () => {
    const { thief, undo } = await stolen()
    expect((await deletes(thief, { password })).status).toBe(204)
    const toThief = await server.mailbox.waitFor(thiefsAddress, subject)
    const toOwner = await server.mailbox.waitFor(ada.email, subject)
    expect(toThief.text).not.toContain('take the account back: open')
    expect(toOwner.text).toContain('take the account back: open the link')
    expect(toOwner.text).not.toMatch(/https?:\/\/\S*token=/)
    expect((await thief.get('/auth/me')).status).toBe(401)
    const again = await server.client().post('/auth/login', { email: thiefsAddress, password })
    expect(again.body).toMatchObject({ status: 403, code: 'account_disabled' })
    await passes(3 * 86_400)
    expect(users()).toBe(1)

    expect((await server.client().post('/auth/email/undo', { token: undo })).status).toBe(200)
    expect((await server.client().post('/auth/login', ada)).status).toBe(200)
    await passes(30 * 86_400)
    expect(users()).toBe(1)
    expect(events()).toEqual(['account_deletion_requested'])
  })

  test('ATK-294 goes when every undo is over', async () => {
    const { thief } = await stolen()
    await deletes(thief, { password })
    await passes(6 * 86_400)
    expect(users()).toBe(1)
    await passes(86_400)
    await expect.poll(users).toBe(0)
    expect(events()).toEqual(['account_deletion_requested', 'account_deleted'])
    expect(server.sql("select id from latchkey_one_time_tokens where purpose = 'account_deletion'")).toEqual([])
  })

  test('ATK-294 needs a code of the second factor, which it uses up', async () => {
    server = await attackServer({ file: true })
    const browser = server.client()
    await browser.signUp(ada)
    const factor = await enrol(browser, password, server.runtime.clock)
    expect((await deletes(browser, { password })).body).toMatchObject({ status: 401, code: 'invalid_code' })
    expect((await deletes(browser, { password, code: factor.wrongCode() })).body).toMatchObject({
      code: 'invalid_code',
    })
    const used = await factor.nextCode()
    const phone = server.client()
    const challenge = await firstStep(phone, ada)
    expect((await phone.post('/auth/login/two-factor', { challenge, code: used })).status).toBe(200)
    expect((await deletes(browser, { password, code: used })).body).toMatchObject({ code: 'invalid_code' })
    expect(users()).toBe(1)
    expect((await deletes(browser, { password, code: await factor.nextCode() })).status).toBe(204)
    expect(users()).toBe(0)
    expect((await server.mailbox.waitFor(ada.email, subject)).text).toContain('cannot be undone')
  })

  test('without a password needs a sign-in of the last five minutes', async () => {
    server = await attackServer({ file: true })
    await server.auth.users.create({ email: ada.email, emailVerified: true })
    const browser = server.client()
    const signsIn = async () => {
      await browser.post('/auth/otp', { email: ada.email })
      const code = server.mailbox.code(await server.mailbox.waitFor(ada.email, 'Your code to sign in'))
      expect((await browser.post('/auth/otp/verify', { email: ada.email, code })).status).toBe(200)
    }
    await signsIn()
    await server.runtime.clock.advance('6m')
    expect((await deletes(browser, {})).body).toMatchObject({ status: 403, code: 'recent_login_required' })
    await signsIn()
    expect((await deletes(browser, {})).status).toBe(204)
    expect(users()).toBe(0)
  })

  test('is asked for the code by the account page, which says afterwards whether it waits', async () => {
    const { thief } = await stolen()
    await enrol(thief, password, server.runtime.clock)
    const page = await thief.open('/auth/account')
    expect(page.text).toContain('id="delete-code"')
    expect((await thief.open('/auth/signed-out?deleted=later')).text).toContain('Your account is disabled now')
    expect((await thief.open('/auth/signed-out?deleted=1')).text).toContain('Your account is deleted')
  })
})
