import { describe, expect, test } from 'vitest'
import type { TestAnswer } from '../../src/testing.js'
import { ada, testAuth } from '../support/auth.js'
import { face, guess, inTurn, ipOf, leap, limitedAuth, times } from '../support/limits.js'

const stranger = 'stranger@example.test'
const grace = { email: 'grace@example.test', password: 'compiler of compilers' }

describe('failed sign-ins', () => {
  test('ATK-010 ten close the account for 15 minutes, also to the right password, which is refused alike', async () => {
    const { client, runtime } = await limitedAuth()
    await client().signUp(ada)
    const attacker = client()
    expect(await inTurn(10, () => guess(attacker, ada.email))).toEqual(times(10, 401))

    const wrong = await guess(attacker, ada.email)
    expect(wrong.body).toMatchObject({ status: 429, code: 'rate_limited' })
    expect(wrong.headers.get('retry-after')).toBe('900')
    const right = await client({ ip: ipOf(1) }).post('/auth/login', ada)
    expect(face(right)).toEqual(face(await guess(client({ ip: ipOf(2) }), ada.email)))

    await leap({ runtime }, 899)
    expect((await client().post('/auth/login', ada)).status).toBe(429)
    await leap({ runtime }, 1)
    expect((await client().post('/auth/login', ada)).status).toBe(200)
  })

  test('ATK-003 ATK-010 an address nobody has is counted and refused in the same way', async () => {
    const { client, runtime } = await limitedAuth()
    await client().signUp(ada)
    await leap({ runtime }, 3600)
    const faces: unknown[][] = []
    for (const [email, ip] of [[ada.email, ipOf(1)] as const, [stranger, ipOf(2)] as const]) {
      const answers: unknown[] = []
      const asking = client({ ip })
      for (let time = 0; time < 12; time += 1) answers.push(face(await guess(asking, email)))
      faces.push(answers)
    }
    expect(faces[0]).toEqual(faces[1])
  })

  test('ATK-011 an attacker with many addresses is counted as one', async () => {
    const { client } = await limitedAuth()
    await client().signUp(ada)
    const statuses = await inTurn(15, (index) => guess(client({ ip: ipOf(index) }), ada.email))
    expect(statuses).toEqual([...times(10, 401), ...times(5, 429)])
  })

  test('ATK-013 who locks an account does not lock out a browser that has signed in to it', async () => {
    const { client } = await limitedAuth()
    const known = client()
    await known.signUp(ada)
    await known.signOut()
    await inTurn(12, (index) => guess(client({ ip: ipOf(index) }), ada.email))
    expect((await client().post('/auth/login', ada)).status).toBe(429)
    expect((await known.post('/auth/login', ada)).status).toBe(200)
  })

  test('ATK-013 a known browser has a count of its own, of the same size', async () => {
    const { client } = await limitedAuth()
    const known = client()
    await known.signUp(ada)
    await known.signOut()
    expect(await inTurn(11, () => guess(known, ada.email))).toEqual([...times(10, 401), 429])
    expect((await known.post('/auth/login', ada)).status).toBe(429)
    expect((await client({ ip: ipOf(1) }).post('/auth/login', ada)).status).toBe(200)
  })

  test('ATK-013 a device is known to one user only, and only under the secret it was given', async () => {
    const { client } = await limitedAuth()
    await client().signUp(ada)
    const mallory = client()
    await mallory.signUp(grace)
    const secret = mallory.cookies.get('known-device') ?? ''
    expect(Buffer.from(secret, 'base64url')).toHaveLength(32)
    await inTurn(10, (index) => guess(client({ ip: ipOf(index) }), ada.email))
    expect((await guess(mallory, ada.email)).status).toBe(429)
    expect((await guess(mallory, grace.email)).status).toBe(401)
  })

  test('a browser keeps its device while the same user signs in, and gets another with another user', async () => {
    const { client } = await limitedAuth()
    await client({ ip: ipOf(1) }).signUp(grace)
    const browser = client()
    const { cookies } = await browser.signUp(ada)
    const first = browser.cookies.get('known-device')
    expect(cookies.find(({ name }) => name === 'known-device')).toMatchObject({ httpOnly: true, path: '/' })
    await browser.signIn(ada)
    expect(browser.cookies.get('known-device')).toBe(first)
    await browser.signIn(grace)
    expect(browser.cookies.get('known-device')).not.toBe(first)
  })

  test('a client without cookies has no device', async () => {
    const { client } = await limitedAuth()
    const app = client({ as: 'token' })
    expect((await app.signUp(ada)).cookies).toEqual([])
    expect((await app.post('/auth/login', ada)).cookies).toEqual([])
  })

  test('ATK-014 a success clears the failures of its own account, and of no other', async () => {
    const { client } = await limitedAuth()
    await client().signUp(ada)
    await client().signUp(grace)
    const attacker = (index: number) => client({ ip: ipOf(index) })
    await inTurn(9, (index) => guess(attacker(index), ada.email))
    expect((await attacker(20).post('/auth/login', grace)).status).toBe(200)
    expect(await inTurn(2, (index) => guess(attacker(index), ada.email))).toEqual([401, 429])

    await inTurn(9, (index) => guess(attacker(index), grace.email))
    expect((await attacker(20).post('/auth/login', grace)).status).toBe(200)
    expect(await inTurn(11, (index) => guess(attacker(index), grace.email))).toEqual([...times(10, 401), 429])
  })

  test('ATK-014 however an address is written, it is one address', async () => {
    const { client } = await limitedAuth()
    const spellings = ['ada@bücher.example', 'ADA@Bücher.EXAMPLE', 'ada@xn--bcher-kva.example', 'Ada@BÜCHER.example']
    const ask = (index: number) => guess(client({ ip: ipOf(index) }), spellings[index % 4] ?? '')
    expect(await inTurn(12, ask)).toEqual([...times(10, 401), 429, 429])
    expect((await guess(client({ ip: ipOf(50) }), 'ada+1@bücher.example')).status).toBe(401)
  })

  test('ATK-010 after 100 failures without a success only a known browser gets in', async () => {
    const { client, runtime } = await limitedAuth()
    const known = client()
    await known.signUp(ada)
    await known.signOut()
    const statuses: number[] = []
    for (let quarter = 0; quarter < 12; quarter += 1) {
      statuses.push(...(await inTurn(11, (index) => guess(client({ ip: ipOf(index) }), ada.email))))
      await leap({ runtime }, 900)
    }
    expect(statuses.filter((status) => status === 401)).toHaveLength(100)
    await leap({ runtime }, 604800)
    expect((await client().post('/auth/login', ada)).status).toBe(429)
    expect((await known.post('/auth/login', ada)).status).toBe(200)
    expect((await client().post('/auth/login', ada)).status).toBe(200)
  })

  test('ATK-017 of 50 at once ten are compared, the others are refused', async () => {
    const { client } = await limitedAuth()
    await client().signUp(ada)
    const all = await Promise.all(
      Array.from({ length: 50 }, (_, index) => guess(client({ ip: ipOf(index) }), ada.email)),
    )
    const statuses = all.map(({ status }) => status).sort()
    expect(statuses).toEqual([...times(10, 401), ...times(40, 429)])
  })

  test('the password that ends an account is counted too', async () => {
    const { client } = await limitedAuth()
    const known = client()
    await known.signUp(ada)
    const ask = () => known.delete('/auth/me', { password: 'not the password' })
    expect(await inTurn(11, ask)).toEqual([...times(10, 401), 429])
    expect((await known.delete('/auth/me', { password: ada.password })).status).toBe(429)
    expect((await known.get('/auth/me')).status).toBe(200)
  })

  test('numbers of the settings hold', async () => {
    const { client } = await limitedAuth({ limits: { login: { account: '2/1m' } } })
    expect(await inTurn(3, () => guess(client(), stranger))).toEqual([401, 401, 429])
  })

  test('switched off by the test kit, nothing is counted', async () => {
    const { client } = await testAuth()
    expect(await inTurn(40, () => guess(client(), stranger))).toEqual(times(40, 401))
  })
})

describe('guessed codes', () => {
  const wrongCode = (email: string) => ({ email, code: '000000', password: 'not the password' })

  test('ATK-010 with a password they are failed sign-ins, whether or not anything waits there', async () => {
    const { client, runtime } = await limitedAuth()
    const browser = client()
    await browser.post('/auth/register', ada)
    for (const email of [ada.email, stranger]) {
      const ask = (index: number) => client({ ip: ipOf(index) }).post('/auth/verify-email', wrongCode(email))
      expect(await inTurn(11, ask)).toEqual([...times(10, 400), 429])
    }
    await leap({ runtime }, 900)
    expect((await client().post('/auth/verify-email', wrongCode(stranger))).status).toBe(400)
  })

  test('ATK-010 with the right password they are, too: it makes none of them forgotten', async () => {
    const { client } = await limitedAuth()
    await client().post('/auth/register', ada)
    const guess = { email: ada.email, code: '0000000', password: ada.password }
    const ask = (index: number) => client({ ip: ipOf(index) }).post('/auth/verify-email', guess)
    expect(await inTurn(11, ask)).toEqual([...times(10, 400), 429])
  })

  test.each([
    ['without a password', { email: ada.email, code: '0000000' }, 400],
    ['with a wrong one', { email: ada.email, code: '0000000', password: 'not the password' }, 429],
  ])('ATK-013 a stranger who guesses %s uses up no guess of the owner', async (_how, guess, last) => {
    const { client, mailbox } = await limitedAuth()
    const browser = client()
    await browser.post('/auth/register', ada)
    const code = mailbox.code(await mailbox.waitFor(ada.email))
    const answers = await inTurn(30, (index) => client({ ip: ipOf(index) }).post('/auth/verify-email', guess))
    expect(answers.at(-1)).toBe(last)
    expect((await browser.post('/auth/verify-email', { code })).status).toBe(200)
  })

  test('ATK-013 whoever registers the same address has the guesses of their own code, and uses up no others', async () => {
    const { client, mailbox } = await limitedAuth()
    const browser = client()
    await browser.post('/auth/register', ada)
    const code = mailbox.code(await mailbox.waitFor(ada.email))
    const planter = client({ ip: ipOf(50) })
    await planter.post('/auth/register', { ...ada, password: 'chosen by another' })
    const answers = await inTurn(25, (index) => {
      const guessing = client({ ip: ipOf(60 + index) })
      for (const cookie of planter.cookies.all()) guessing.cookies.put(cookie)
      return guessing.post('/auth/verify-email', { code: '0000000' })
    })
    expect(answers).toEqual(times(25, 400))
    expect((await browser.post('/auth/verify-email', { code })).status).toBe(200)
  })

  test('while an address has had too many, a guess uses up none of its code: whoever waits can use it', async () => {
    const { client, mailbox, runtime } = await limitedAuth({ limits: { guess: { account: '2/15m' } } })
    const browser = client()
    await browser.post('/auth/register', ada)
    const code = mailbox.code(await mailbox.waitFor(ada.email))
    expect(await inTurn(2, () => browser.post('/auth/verify-email', { code: '0000000' }))).toEqual(times(2, 400))
    expect(await inTurn(6, () => browser.post('/auth/verify-email', { code }))).toEqual(times(6, 429))
    await leap({ runtime }, 900)
    expect((await browser.post('/auth/verify-email', { code })).status).toBe(200)
  })

  test('the mailed link still works', async () => {
    const { client, mailbox } = await limitedAuth()
    const browser = client()
    await browser.post('/auth/register', ada)
    await inTurn(21, (index) => client({ ip: ipOf(index) }).post('/auth/verify-email', wrongCode(ada.email)))
    const token = mailbox.token(await mailbox.waitFor(ada.email))
    expect((await browser.post('/auth/verify-email', { token })).status).toBe(200)
  })

  test('the password that confirms in another browser counts as a failed sign-in', async () => {
    const { client, mailbox } = await limitedAuth()
    await client().post('/auth/register', ada)
    const token = mailbox.token(await mailbox.waitFor(ada.email))
    const ask = (index: number): Promise<TestAnswer> =>
      client({ ip: ipOf(index) }).post('/auth/verify-email', { token, password: 'not the password' })
    expect(await inTurn(11, ask)).toEqual([...times(10, 401), 429])
    expect((await guess(client({ ip: ipOf(99) }), ada.email)).status).toBe(429)
  })
})

describe('the password of whoever is signed in', () => {
  test('ATK-010 is guessed no more often by changing it than by signing in, and a reset opens the way again', async () => {
    const world = await limitedAuth()
    const browser = world.client()
    await browser.signUp(ada)
    await browser.signIn(ada)
    const change = () =>
      browser.post('/auth/password/change', { currentPassword: 'wrong guess', newPassword: 'a fine new phrase' })
    const statuses: number[] = []
    for (let guess = 0; guess < 12; guess += 1) statuses.push((await change()).status)
    expect(statuses).toEqual([...times(10, 401), 429, 429])

    await browser.post('/auth/password/forgot', { email: ada.email })
    const token = world.mailbox.token(await world.mailbox.waitFor(ada.email, /password/i))
    expect((await browser.post('/auth/password/reset', { token, password: 'another fine phrase' })).status).toBe(200)
    expect((await browser.post('/auth/login', { ...ada, password: 'another fine phrase' })).status).toBe(200)
  })
})
