import { describe, expect, test } from 'vitest'
import type { SignedIn } from '../../src/testing.js'
import { ada, type TestAuth } from '../support/auth.js'
import { face, inTurn, ipOf, leap, limitedAuth, networkOf, times } from '../support/limits.js'

const stranger = 'stranger@example.test'

/** Everything that was mailed to that address by the time all mail has gone out. */
async function mailed({ auth, mailbox }: TestAuth, to: string): Promise<number> {
  await auth.close()
  return mailbox.mails.filter((mail) => mail.to === to).length
}

function register({ client }: TestAuth, email: string) {
  return (index: number) => client({ ip: ipOf(index) }).post('/auth/register', { ...ada, email })
}

describe('mails that somebody asks for', () => {
  test('ATK-020 a network gets three for an address in 15 minutes, and every request the same answer', async () => {
    const world = await limitedAuth()
    expect(await inTurn(100, register(world, stranger))).toEqual(times(100, 202))
    expect(await mailed(world, stranger)).toBe(3)
  })

  test('ATK-007 ATK-020 the owner of an account gets no more and no fewer', async () => {
    const world = await limitedAuth()
    await world.client().signUp(ada)
    await leap(world, 900)
    expect(await inTurn(20, register(world, ada.email))).toEqual(times(20, 202))
    expect(await mailed(world, ada.email)).toBe(1 + 3)
  })

  test('ATK-020 and five a day', async () => {
    const world = await limitedAuth()
    for (let quarter = 0; quarter < 6; quarter += 1) {
      expect(await inTurn(5, register(world, stranger))).toEqual(times(5, 202))
      await leap(world, 900)
    }
    await leap(world, 86_400)
    expect(await inTurn(5, register(world, stranger))).toEqual(times(5, 202))
    expect(await mailed(world, stranger)).toBe(5 + 3)
  })

  test('ATK-020 asking again counts like the first time, and leaves the last mail good', async () => {
    const world = await limitedAuth()
    const browser = world.client()
    await browser.post('/auth/register', ada)
    const ask = () => browser.post('/auth/verify-email/resend', { email: ada.email })
    expect(await inTurn(6, ask)).toEqual(times(6, 202))
    await world.mailbox.waitFor(ada.email)
    await world.mailbox.waitFor(ada.email)
    const token = world.mailbox.token(await world.mailbox.waitFor(ada.email))
    expect((await browser.post('/auth/verify-email', { token })).status).toBe(200)
    expect(await mailed(world, ada.email)).toBe(3)
  })

  test('ATK-007 ATK-020 forgotten passwords count for themselves, and strangers get the same answers', async () => {
    const world = await limitedAuth()
    await world.client().signUp(ada)
    const forgot = (address: string) => (index: number) =>
      world.client({ ip: ipOf(index) }).post('/auth/password/forgot', { email: address })
    expect(await inTurn(8, forgot(ada.email))).toEqual(times(8, 202))
    expect(await inTurn(8, forgot(stranger))).toEqual(times(8, 202))
    expect(await mailed(world, ada.email)).toBe(1 + 3)
    expect(await mailed(world, stranger)).toBe(0)
  })

  test('asking again for what this browser did not register takes no mail from its owner', async () => {
    const world = await limitedAuth()
    const ask = (index: number) =>
      world.client({ ip: ipOf(index) }).post('/auth/verify-email/resend', { email: ada.email })
    expect(await inTurn(10, ask)).toEqual(times(10, 202))
    await world.client().post('/auth/register', ada)
    expect(await mailed(world, ada.email)).toBe(1)
  })

  test('ATK-020 signing in before the address is confirmed mails no more than that', async () => {
    const world = await limitedAuth()
    await world.client().post('/auth/register', ada)
    const statuses = await inTurn(9, () => world.client().post('/auth/login', ada))
    expect(statuses).toEqual(times(9, 403))
    expect(await mailed(world, ada.email)).toBe(3)
  })

  describe('after the right password the answer says whether a mail was sent', () => {
    const signIn = async ({ client }: TestAuth) => (await client().post('/auth/login', ada)).body
    const sent = {
      code: 'email_not_verified',
      detail: 'Confirm your email address first. We have sent you a new mail.',
      mailSent: true,
    }
    const refused = { code: 'email_not_verified', mailSent: false, retryAfter: 900 }

    test('where a registration waits', async () => {
      const world = await limitedAuth()
      await world.client().post('/auth/register', ada)
      for (let nth = 0; nth < 2; nth += 1) expect(await signIn(world)).toMatchObject(sent)
      const answer = await signIn(world)
      expect(answer).toMatchObject(refused)
      expect(JSON.stringify(answer)).not.toContain('We have sent')
      await leap(world, 600)
      expect(await signIn(world)).toMatchObject({ ...refused, retryAfter: 300 })
      await leap(world, 300)
      expect(await signIn(world)).toMatchObject(sent)
      await signIn(world)
      // The day's five are used up; it began with the registration.
      expect(await signIn(world)).toMatchObject({ ...refused, retryAfter: 86_400 - 900 })
    })

    test('ATK-001 in the same words whether or not the address has an account', async () => {
      const faces = await Promise.all(
        [true, false].map(async (exists) => {
          const world = await limitedAuth()
          if (exists) await world.auth.users.create({ email: ada.email, password: 'of the owner', emailVerified: true })
          await world.client().post('/auth/register', ada)
          const answers: unknown[] = []
          for (let nth = 0; nth < 4; nth += 1) answers.push(face(await world.client().post('/auth/login', ada)))
          return answers
        }),
      )
      expect(faces[0]).toEqual(faces[1])
      expect(faces[0]?.at(-1)).toMatchObject({ body: refused })
    })

    test('where an account has yet to confirm its address', async () => {
      const world = await limitedAuth()
      await world.auth.users.create({ email: ada.email, password: ada.password })
      for (let nth = 0; nth < 3; nth += 1) expect(await signIn(world)).toMatchObject(sent)
      expect(await signIn(world)).toMatchObject(refused)
    })

    test('and on the sign-in page', async () => {
      const world = await limitedAuth()
      const browser = world.client()
      await browser.post('/auth/register', ada)
      for (const [words, others] of [
        ['We have sent you a new mail', 'We have not sent another mail'],
        ['We have sent you a new mail', 'We have not sent another mail'],
        ['We have not sent another mail', 'We have sent you a new mail'],
      ] as const) {
        const page = await browser.submit('/auth/login', ada)
        expect(page.url.searchParams.get('error')).toBe('email_not_verified')
        expect(page.text).toContain(words)
        expect(page.text).not.toContain(others)
      }
      const neutral = await browser.open('/auth/login?error=email_not_verified')
      expect(neutral.text).toContain('<p>Confirm your email address first.</p>')
    })
  })

  describe('a confirmation that is not mailed again is in the audit log', () => {
    const sent = ['success', {}]
    const refused = ['failure', { reason: 'mail_limit' }]
    const confirmations = async ({ auth }: TestAuth) => {
      const { items } = await auth.audit.list({ event: 'verification_requested' })
      return items.toReversed().map(({ userId, outcome, detail }) => [userId, outcome, detail])
    }

    test('where a sign-in or the browser that registered asked', async () => {
      const world = await limitedAuth()
      const browser = world.client()
      await browser.post('/auth/register', ada)
      await inTurn(3, () => world.client().post('/auth/login', ada))
      await browser.post('/auth/verify-email/resend', { email: ada.email })
      const [first, second, ...rest] = await confirmations(world)
      expect([first, second]).toEqual([sent, sent].map((facts) => [null, ...facts]))
      expect(rest).toEqual([refused, refused].map((facts) => [null, ...facts]))
    })

    test('where the signed-in user of an unconfirmed account asked', async () => {
      const world = await limitedAuth({ registration: { emailVerification: 'optional' } })
      const browser = world.client()
      const { user } = (await browser.post<SignedIn>('/auth/register', ada)).body
      await inTurn(3, () => browser.post('/auth/verify-email/resend'))
      expect(await confirmations(world)).toEqual([sent, sent, refused].map((facts) => [user.id, ...facts]))
    })

    test('where an account has yet to confirm its address', async () => {
      const world = await limitedAuth()
      const { id } = await world.auth.users.create({ email: ada.email, password: ada.password })
      await inTurn(4, () => world.client().post('/auth/login', ada))
      expect(await confirmations(world)).toEqual([sent, sent, sent, refused].map((facts) => [id, ...facts]))
    })
  })

  test('ATK-020 where confirming is optional, a new account beyond the limit comes without a mail', async () => {
    const world = await limitedAuth({ registration: { emailVerification: 'optional' } })
    const answers: unknown[] = []
    for (let time = 0; time < 5; time += 1) {
      const browser = world.client({ ip: ipOf(time) })
      const { status, body } = await browser.post('/auth/register', ada)
      const { user: _, session: __, ...mail } = Object(body)
      answers.push([status, mail])
      await browser.delete('/auth/me', { password: ada.password })
    }
    const sent = [201, {}]
    const refused = [201, { mailSent: false, retryAfter: 900 }]
    expect(answers).toEqual([sent, sent, sent, refused, refused])
    expect(await mailed(world, ada.email)).toBe(3)
  })

  test('ATK-020 where confirming is optional, a refused registration takes no mail from the owner of the address', async () => {
    const world = await limitedAuth({ registration: { emailVerification: 'optional' } })
    await world.auth.users.create({ email: ada.email, password: ada.password })
    const statuses = await inTurn(18, (index) =>
      world.client({ ip: networkOf(Math.floor(index / 3)) }).post('/auth/register', ada),
    )
    expect(statuses).toEqual(times(18, 409))
    const browser = world.client({ ip: networkOf(0) })
    await browser.signIn(ada)
    await browser.post('/auth/verify-email/resend')
    expect(await mailed(world, ada.email)).toBe(1)
  })

  test('a registration beyond the limit does not drive out one that was mailed', async () => {
    const world = await limitedAuth()
    const browser = world.client({ ip: ipOf(50) })
    await browser.post('/auth/register', ada)
    const token = world.mailbox.token(await world.mailbox.waitFor(ada.email))
    await inTurn(10, register(world, ada.email))
    expect((await browser.post('/auth/verify-email', { token })).status).toBe(200)
  })

  test('security notices do not count', async () => {
    const world = await limitedAuth()
    await inTurn(5, register(world, ada.email))
    const browser = world.client()
    await world.mailbox.waitFor(ada.email)
    await leap(world, 900)
    await browser.signUp(ada).catch(() => null)
    expect(await mailed(world, ada.email)).toBe(4)
  })
})
