import { describe, expect, test } from 'vitest'
import type { TestClient } from '../../src/testing.js'
import { ada, type TestAuth } from '../support/auth.js'
import { face, inTurn, ipOf, leap, limitedAuth, networkOf, times } from '../support/limits.js'

const stranger = 'stranger@example.test'
const subject = 'Your code to sign in'

async function world(): Promise<TestAuth> {
  const limited = await limitedAuth()
  await limited.auth.users.create({ ...ada, emailVerified: true })
  return limited
}

/** Asks for a code and wrongly guesses that often, each time from another address; the statuses of the guesses. */
async function guessed({ client }: TestAuth, email: string, guesses: number, from = 0): Promise<number[]> {
  const asking = client({ ip: ipOf(from) })
  expect((await asking.post('/auth/otp', { email })).status).toBe(202)
  return inTurn(guesses, (index) => guess(client({ ip: ipOf(from + index) }), asking, email))
}

/** As `asking`, but from the address of `client`. */
function guess(client: TestClient, asking: TestClient, email: string) {
  for (const cookie of asking.cookies.all()) client.cookies.put(cookie)
  return client.post('/auth/otp/verify', { email, code: 'never' })
}

/** The lengths of so many codes, each asked for in a browser of another network. */
async function lengths({ client, mailbox }: TestAuth, email: string, codes: number, from = 0): Promise<number[]> {
  const found: number[] = []
  for (let nth = 0; nth < codes; nth += 1) {
    await client({ ip: networkOf(from + nth) }).post('/auth/otp', { email })
    found.push(mailbox.code(await mailbox.waitFor(email, subject)).length)
  }
  return found
}

async function signsIn({ client, mailbox }: TestAuth, by: 'code' | 'token', from: number): Promise<number> {
  const browser = client({ ip: ipOf(from) })
  await browser.post('/auth/otp', { email: ada.email })
  const mail = await mailbox.waitFor(ada.email, subject)
  const proof = by === 'token' ? { token: mailbox.token(mail) } : { email: ada.email, code: mailbox.code(mail) }
  return (await browser.post('/auth/otp/verify', proof)).status
}

describe('guesses at mailed sign-in codes', () => {
  test('ATK-007 a refusal looks the same for an address with and without an account', async () => {
    const faces = await Promise.all(
      [ada.email, stranger].map(async (email) => {
        const limited = await world()
        const asking = limited.client()
        await asking.post('/auth/otp', { email })
        const answers: unknown[] = []
        for (let nth = 0; nth < 23; nth += 1) answers.push(face(await guess(limited.client(), asking, email)))
        return answers
      }),
    )
    expect(faces[0]).toEqual(faces[1])
    expect(faces[0]?.at(-1)).toMatchObject({ status: 429, body: { code: 'rate_limited' } })
  })

  test('ATK-023 after four codes in an hour without a success the next ones have eight digits, known or not', async () => {
    const limited = await world()
    expect(await lengths(limited, ada.email, 5)).toEqual([6, 6, 6, 6, 8])
    await leap(limited, 3_600)
    expect(await lengths(limited, ada.email, 1, 10)).toEqual([6])
    const answers = await Promise.all(
      [ada.email, stranger].map((email) => limited.client({ ip: networkOf(200) }).post('/auth/otp', { email })),
    )
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
  })

  test('ATK-023 after twenty codes without a success they have eight digits for as long, and sign in', async () => {
    const limited = await world()
    for (let hour = 0; hour < 10; hour += 1) {
      expect(await lengths(limited, ada.email, 2, hour * 2)).toEqual([6, 6])
      await leap(limited, 4 * 3_600)
    }
    await leap(limited, 7 * 86_400)
    expect(await lengths(limited, ada.email, 1, 100)).toEqual([8])
    expect(await signsIn(limited, 'code', 101 * 256)).toBe(200)
    expect(await lengths(limited, ada.email, 1, 102)).toEqual([6])
  })

  test('ATK-023 a new password by mail brings short codes back', async () => {
    const limited = await limitedAuth({ otp: { mail: 'code' } })
    await limited.auth.users.create({ ...ada, emailVerified: true })
    expect(await lengths(limited, ada.email, 5)).toEqual([6, 6, 6, 6, 8])
    const browser = limited.client({ ip: ipOf(200) })
    await browser.post('/auth/password/forgot', { email: ada.email })
    const token = limited.mailbox.token(await limited.mailbox.waitFor(ada.email, /password/))
    const reset = await browser.post('/auth/password/reset', { token, password: 'a difference engine of brass' })
    expect(reset.status).toBe(200)
    expect(await lengths(limited, ada.email, 1, 100)).toEqual([6])
  })

  test('ATK-014 a success brings back the short codes of its own address, and of no other', async () => {
    const limited = await world()
    const grace = 'grace@example.test'
    await limited.auth.users.create({ email: grace, emailVerified: true })
    expect(await lengths(limited, ada.email, 4)).toEqual([6, 6, 6, 6])
    expect(await lengths(limited, grace, 4)).toEqual([6, 6, 6, 6])
    expect(await signsIn(limited, 'code', 200)).toBe(200)
    expect(await lengths(limited, ada.email, 1, 100)).toEqual([6])
    expect(await lengths(limited, grace, 1, 100)).toEqual([8])
  })

  test('the page of a mailed link shows a code of eight digits to type where it was asked for', async () => {
    const limited = await world()
    await lengths(limited, ada.email, 4)
    await limited.client({ ip: networkOf(10) }).post('/auth/otp', { email: ada.email })
    const mail = await limited.mailbox.waitFor(ada.email, subject)
    const page = await limited.client().open(limited.mailbox.link(mail))
    expect(page.text.replaceAll(/\s/g, '')).toContain(limited.mailbox.code(mail))
  })

  test('ATK-013 a stranger without the handle uses up no guess of the owner', async () => {
    const limited = await world()
    const owner = limited.client()
    await owner.post('/auth/otp', { email: ada.email })
    const code = limited.mailbox.code(await limited.mailbox.waitFor(ada.email, subject))
    const bare = (index: number) =>
      limited.client({ ip: ipOf(index) }).post('/auth/otp/verify', { email: ada.email, code: 'never' })
    expect(await inTurn(50, bare)).toEqual(times(50, 400))
    expect((await owner.post('/auth/otp/verify', { email: ada.email, code })).status).toBe(200)
  })

  test('ATK-013 ATK-023 whoever guesses at codes that confirm the address uses up no guess of its owner', async () => {
    const limited = await world()
    const confirm = (index: number) =>
      limited.client({ ip: ipOf(index) }).post('/auth/verify-email', { email: ada.email, code: '000000' })
    expect(await inTurn(21, confirm)).toEqual(times(21, 400))
    expect(await signsIn(limited, 'code', 50)).toBe(200)
  })

  test('ATK-013 ATK-023 guesses at sign-in codes use up none at a code that confirms the address', async () => {
    const limited = await limitedAuth()
    const browser = limited.client()
    await browser.post('/auth/register', ada)
    const code = limited.mailbox.code(await limited.mailbox.waitFor(ada.email, 'Confirm'))
    expect(await guessed(limited, ada.email, 21)).toEqual([...times(20, 400), 429])
    expect((await browser.post('/auth/verify-email', { email: ada.email, code })).status).toBe(200)
  })

  test('ATK-012 one client address takes thirty a minute, whatever it guesses at', async () => {
    const limited = await world()
    const one = limited.client()
    const statuses = await inTurn(31, (index) =>
      one.post('/auth/otp/verify', { email: `x${index}@example.test`, code: 'never' }),
    )
    expect(statuses).toEqual([...times(30, 400), 429])
  })

  test('ATK-013 whoever locks the password does not lock out a code', async () => {
    const limited = await world()
    const wrong = (index: number) =>
      limited.client({ ip: ipOf(index) }).post('/auth/login', { ...ada, password: 'not the password' })
    await inTurn(12, wrong)
    expect((await limited.client().post('/auth/login', ada)).status).toBe(429)
    expect(await signsIn(limited, 'code', 50)).toBe(200)
  })
})

describe('mails with sign-in codes', () => {
  async function mailed({ auth, mailbox }: TestAuth, to: string): Promise<number> {
    await auth.close()
    return mailbox.mails.filter((mail) => mail.to === to).length
  }

  test('ATK-007 ATK-020 a network gets three in 15 minutes, and every request the same answer, known or not', async () => {
    const limited = await world()
    const ask = (email: string) => (index: number) => limited.client({ ip: ipOf(index) }).post('/auth/otp', { email })
    expect(await inTurn(10, ask(ada.email))).toEqual(times(10, 202))
    expect(await inTurn(10, ask(stranger))).toEqual(times(10, 202))
    const shape = async (email: string, ip: string) => {
      const { status, body, cookies } = await limited.client({ ip }).post('/auth/otp', { email })
      return { status, body, cookies: cookies.map(({ name, value }) => [name, value.length]) }
    }
    const limitedFace = await shape(ada.email, ipOf(50))
    expect(limitedFace).toEqual(await shape('fresh@example.test', ipOf(51)))
    expect(limitedFace.cookies).toEqual([['otp', 43]])
    expect([await mailed(limited, ada.email), await mailed(limited, stranger)]).toEqual([3, 0])
  })

  test('a browser that asks once too often keeps what makes its last code good, and no other gets it', async () => {
    const limited = await world()
    const browser = limited.client()
    for (let nth = 0; nth < 3; nth += 1) await browser.post('/auth/otp', { email: ada.email })
    const handle = browser.cookies.get('otp')
    await browser.post('/auth/otp', { email: ada.email })
    expect(browser.cookies.get('otp')).toBe(handle)
    const other = limited.client({ ip: '127.0.0.2' })
    await other.post('/auth/otp', { email: ada.email })
    expect(other.cookies.get('otp')).not.toBe(handle)
    // What is no handle of ours is not repeated.
    const odd = await limited
      .client({ ip: '127.0.0.3' })
      .post('/auth/otp', { email: ada.email }, { headers: { cookie: 'otp="x y' } })
    expect([odd.status, odd.cookies[0]?.value.length]).toEqual([202, 43])

    await limited.mailbox.waitFor(ada.email, subject)
    await limited.mailbox.waitFor(ada.email, subject)
    const code = limited.mailbox.code(await limited.mailbox.waitFor(ada.email, subject))
    expect((await browser.post('/auth/otp/verify', { email: ada.email, code })).status).toBe(200)
  })
})
