import { afterAll, describe, expect, test } from 'vitest'
import { codeFor } from '../../src/flows/steps/mailed-code.js'
import { createKeyring } from '../../src/lib/keyring.js'
import { attackServer } from '../support/attack-server.js'

const server = await attackServer({ file: true })
afterAll(() => server.close())

let serial = 0

/** An owner who asked, and the mail. */
async function asked() {
  serial += 1
  const email = `owner${serial}@example.test`
  await server.auth.users.create({ email, emailVerified: true })
  const owner = server.client()
  await owner.post('/auth/otp', { email })
  const mail = await server.mailbox.waitFor(email)
  return {
    email,
    owner,
    link: server.mailbox.link(mail),
    token: server.mailbox.token(mail),
    code: server.mailbox.code(mail),
  }
}

type Asked = Awaited<ReturnType<typeof asked>>

const sessions = () => server.sql<{ n: number }>('select count(*) as n from latchkey_sessions')[0]?.n ?? 0

function stored(email: string) {
  return server.sql("select * from latchkey_one_time_tokens where email = ? and purpose = 'otp'", email)
}

/** Does everything that a scanner of mails does with a link, and more: it also presses every button, from its own jar. */
async function scan({ link, token, code }: Asked): Promise<void> {
  for (const as of ['server', 'browser'] as const) {
    const scanner = server.client({ as })
    expect((await fetch(link, { method: 'HEAD' })).status).toBe(200)
    expect((await scanner.get(link)).status).toBe(200)
    expect((await scanner.get(link, { headers: { purpose: 'prefetch', 'sec-purpose': 'prefetch' } })).status).toBe(200)
    for (const proof of [{ token }, { code }, { token, code }]) {
      const answer = await scanner.post('/auth/otp/verify', proof)
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_token' } })
      expect(answer.cookies).toEqual([])
    }
    const form = await server.client().submit('/auth/otp/verify', { token })
    expect(form.url.search).toBe('?error=invalid_token&proof=link')
    expect(form.text).toContain('This link is no longer valid')
  }
}

describe('ATK-033 a scanner that opens the link of a sign-in', () => {
  test.each(['token', 'code'] as const)(
    'ATK-033 by HEAD, GET and POST from its own jar changes nothing: the owner still signs in by the %s',
    async (way) => {
      const mailed = await asked()
      const [before, opened] = [stored(mailed.email), sessions()]
      await scan(mailed)
      expect(stored(mailed.email)).toEqual(before)
      expect(sessions()).toBe(opened)
      const answer = await mailed.owner.post('/auth/otp/verify', { [way]: mailed[way] })
      expect(answer.status).toBe(200)
      expect(sessions()).toBe(opened + 1)
    },
  )
})

describe('ATK-027 what the page of a link shows to another browser', () => {
  test('ATK-027 the code on it signs in only where it was asked for', async () => {
    const { owner, link, code } = await asked()
    const thief = server.client()
    expect((await thief.open(link)).text).toContain(code)
    expect((await thief.post('/auth/otp/verify', { code })).status).toBe(400)
    expect((await owner.post('/auth/otp/verify', { code })).status).toBe(200)
  })

  test('ATK-027 it does not claim that its reader asked, because an attacker may have', async () => {
    const { text } = await server.client().open((await asked()).link)
    expect(text).not.toContain('You asked')
    expect(text).toContain('This mail was requested in another browser.')
    expect(text).toContain('If you did not ask for it, close this page. Never give the code to anyone')
  })

  test('ATK-046 the store keeps digests of link and code, and no text from which either could be opened', async () => {
    const { email, token, code } = await asked()
    const [row] = stored(email)
    expect(row).toMatchObject({ payload: null })
    expect(JSON.stringify(row)).not.toContain(token)
    expect(JSON.stringify(row)).not.toContain(code)
  })

  test('ATK-047 codes that belong to links are spread over all digits', async () => {
    const counts = new Array<number>(10).fill(0)
    const keyring = createKeyring(['one secret'])
    for (let nth = 0; nth < 10_000; nth += 1) {
      const code = codeFor({ keyring }, `token ${nth}`, 6)
      expect(code).toMatch(/^\d{6}$/)
      for (const digit of code) counts[Number(digit)] = (counts[Number(digit)] ?? 0) + 1
    }
    const mean = 6_000
    const chiSquare = counts.reduce((sum, count) => sum + (count - mean) ** 2 / mean, 0)
    // 9 degrees of freedom: even digits exceed it once in a thousand samples. The sample is the same in each run.
    expect(chiSquare).toBeLessThan(27.9)
  })
})
