import { afterAll, describe, expect, test } from 'vitest'
import type { TestClient } from '../../src/testing.js'
import { attackServer } from '../support/attack-server.js'

const server = await attackServer({ file: true })
afterAll(() => server.close())

const password = 'correct horse battery'

async function register(email: string, client = server.client(), secret = password) {
  expect((await client.post('/auth/register', { email, password: secret })).status).toBe(202)
  const mail = await server.mailbox.waitFor(email)
  return { client, token: server.mailbox.token(mail), code: server.mailbox.code(mail) }
}

/** `ok`, or the code of the problem. */
async function verify(client: TestClient, proof: object): Promise<string> {
  const { status, body } = await client.post<{ code?: string }>('/auth/verify-email', proof)
  return status === 200 ? 'ok' : (body.code ?? String(status))
}

/** Six digits that are not the code. */
function wrong(code: string, nth: number): string {
  return String((Number(code) + nth) % 1_000_000).padStart(6, '0')
}

function tries(email: string): number[] {
  const rows = server.sql<{ tries: number }>(
    'select tries from latchkey_one_time_tokens where email = ? order by ordinal',
    email,
  )
  return rows.map((row) => row.tries)
}

describe('ATK-022 guessing a code', () => {
  test.each([
    ['four wrong codes leave', 4, 'ok'],
    ['five wrong codes kill', 5, 'invalid_token'],
  ])('ATK-022 %s the right one', async (_title, guesses, outcome) => {
    const email = `guess${guesses}@example.test`
    const { client, code, token } = await register(email)
    for (let nth = 1; nth <= guesses; nth += 1) {
      expect(await verify(client, { email, code: wrong(code, nth) })).toBe('invalid_token')
    }
    expect(await verify(client, { email, code })).toBe(outcome)
    // The link holds 256 bits: nobody guesses it, and it still works.
    if (outcome !== 'ok') expect(await verify(client, { token })).toBe('ok')
  })

  test('ATK-017 twenty guesses at once count as five, and then the right code is dead', async () => {
    const email = 'parallel@example.test'
    const { client, code } = await register(email)
    const guesses = Array.from({ length: 20 }, (_, nth) => verify(client.copy(), { email, code: wrong(code, nth + 1) }))
    expect(new Set(await Promise.all(guesses))).toEqual(new Set(['invalid_token']))
    expect(tries(email)).toEqual([5])
    expect(await verify(client, { email, code })).toBe('invalid_token')
  })

  test('ATK-022 guesses with the password kill the codes of every registration that it opens', async () => {
    const email = 'spread@example.test'
    const one = await register(email)
    const two = await register(email)
    const stranger = server.client()
    // Each guess counts at one of them, whichever: fewer than five at either in eighty do not come about.
    for (let nth = 1; nth <= 80; nth += 1) {
      // A guess that is right for the other one is no guess at all.
      if (wrong(one.code, nth) === two.code) continue
      expect(await verify(stranger, { email, code: wrong(one.code, nth), password })).toBe('invalid_token')
    }
    expect(tries(email)).toEqual([5, 5])
    for (const { client, code } of [one, two]) {
      expect(await verify(stranger, { email, code, password })).toBe('invalid_token')
      expect(await verify(client, { email, code })).toBe('invalid_token')
    }
  })

  test('ATK-027 guesses with a wrong password are none, so a stranger cannot kill a code', async () => {
    const email = 'wrong-password@example.test'
    const { client, code } = await register(email)
    const stranger = server.client()
    for (let nth = 1; nth < 10; nth += 1) {
      const guess = { email, code: wrong(code, nth), password: 'not the password' }
      expect(await verify(stranger, guess)).toBe('invalid_token')
    }
    // The right one too: what nobody counts must not tell which it is.
    expect(await verify(stranger, { email, code, password: 'not the password' })).toBe('invalid_token')
    expect(tries(email)).toEqual([0])
    expect(await verify(client, { email, code })).toBe('ok')
  })

  test('ATK-027 whoever registers the same address with another password kills no code but their own', async () => {
    const email = 'planted@example.test'
    const { client, code } = await register(email)
    const planter = await register(email, server.client(), 'chosen by the attacker')
    for (let nth = 1; nth <= 40; nth += 1) {
      const guess = { email, code: wrong(planter.code, nth), password: 'chosen by the attacker' }
      if (guess.code !== code) expect(await verify(server.client(), guess)).toBe('invalid_token')
    }
    expect(tries(email)).toEqual([0, 5])
    expect(await verify(server.client(), { email, code, password })).toBe('ok')
    expect(await verify(client, { email, code })).toBe('invalid_token')
  })

  test('ATK-027 without handle and password nothing is counted, so a stranger cannot kill a code', async () => {
    const email = 'bystander@example.test'
    const { client, code } = await register(email)
    const other = (await register('other27@example.test')).client
    for (const stranger of [server.client(), other]) {
      for (let nth = 0; nth < 10; nth += 1)
        expect(await verify(stranger, { email, code: wrong(code, nth) })).toBe('invalid_token')
    }
    expect(tries(email)).toEqual([0])
    expect(await verify(client, { email, code })).toBe('ok')
  })

  test('ATK-026 a code in any other spelling is wrong or no code', async () => {
    const email = 'spelling@example.test'
    const { client, code } = await register(email)
    const full = [...code].map((digit) => String.fromCodePoint(0xff10 + Number(digit))).join('')
    const arabic = [...code].map((digit) => String.fromCodePoint(0x660 + Number(digit))).join('')
    for (const spelled of [full, arabic, `${code}.`, `+${code}`, `0${code}`, `${code}\0`]) {
      expect(['invalid_token', 'invalid_request']).toContain(await verify(client, { email, code: spelled }))
    }
    for (const typed of [Number(code), [code], { code }, true, null, '', '0', code.slice(0, 3)]) {
      expect(await verify(client, { email, code: typed })).toBe('invalid_request')
    }
  })
})

describe('a code with the blanks and dashes of whoever types or copies it', () => {
  test.each([
    ['a blank at the end', (code: string) => `${code} `],
    ['a line end', (code: string) => `${code}\r\n`],
    ['a blank in between', (code: string) => `${code.slice(0, 3)} ${code.slice(3)}`],
    ['a dash in between', (code: string) => `${code.slice(0, 3)}–${code.slice(3)}`],
    ['a blank that does not break', (code: string) => `\u00a0${code.slice(0, 3)}\u00a0${code.slice(3)}`],
  ])('is that code: %s', async (what, spelled) => {
    const email = `${what.replaceAll(' ', '-')}@example.test`
    const { client, code } = await register(email)
    expect(await verify(client, { email, code: spelled(code) })).toBe('ok')

    await client.post('/auth/otp', { email })
    const mail = await server.mailbox.waitFor(email, /code to sign in/)
    const asked = { email, code: spelled(server.mailbox.code(mail)) }
    expect((await client.post('/auth/otp/verify', asked)).status).toBe(200)
  })
})

describe('ATK-024 what replaces what', () => {
  test('ATK-024 asking again gives a new link and code, and the old ones are dead', async () => {
    const email = 'again@example.test'
    const { client, ...old } = await register(email)
    for (let nth = 1; nth <= 5; nth += 1) await verify(client, { email, code: wrong(old.code, nth) })
    await client.post('/auth/verify-email/resend', { email })
    const mail = await server.mailbox.waitFor(email)
    const [token, code] = [server.mailbox.token(mail), server.mailbox.code(mail)]
    expect(await verify(client, { token: old.token })).toBe('invalid_token')
    if (code !== old.code) expect(await verify(client, { email, code: old.code })).toBe('invalid_token')
    expect(await verify(client, { email, code })).toBe('ok')
    expect(await verify(client, { token, password })).toBe('invalid_token')
  })

  test('ATK-024 three registrations stand side by side, a fourth drops the oldest, and one ends the others', async () => {
    const email = 'crowd@example.test'
    const first = await register(email, server.client(), 'a password of the 1st')
    const second = await register(email, server.client(), 'a password of the 2nd')
    const third = await register(email, server.client(), 'a password of the 3rd')
    expect(tries(email)).toHaveLength(3)
    const fourth = await register(email, server.client(), 'a password of the 4th')
    expect(tries(email)).toHaveLength(3)

    expect(await verify(first.client, { token: first.token })).toBe('invalid_token')
    expect(await verify(first.client, { email, code: first.code })).toBe('invalid_token')
    expect(await verify(second.client, { token: second.token })).toBe('ok')
    expect(tries(email)).toEqual([])
    for (const { client, token, code } of [third, fourth]) {
      expect(await verify(client, { token })).toBe('invalid_token')
      expect(await verify(client, { email, code })).toBe('invalid_token')
    }
    await server.client().signIn({ email, password: 'a password of the 2nd' })
  })

  test('ATK-025 a link or a code is good once', async () => {
    for (const by of ['token', 'code'] as const) {
      const email = `once-${by}@example.test`
      const { client, token, code } = await register(email)
      const copy = client.copy()
      const proofs = [{ token }, { email, code }, { token, password }, { email, code, password }]
      expect(await verify(client, by === 'token' ? { token } : { email, code })).toBe('ok')
      for (const proof of proofs) expect(await verify(copy, proof)).toBe('invalid_token')
    }
  })
})

describe('ATK-028 lifetimes', () => {
  test.each([
    ['23:59:59', 86_399, 'ok'],
    ['24:00:00', 86_400, 'invalid_token'],
    ['24:00:01', 86_401, 'invalid_token'],
  ])('ATK-028 after %s a link and a code end as they have to', async (_when, seconds, outcome) => {
    const byLink = await register(`link${seconds}@example.test`)
    const byCode = await register(`code${seconds}@example.test`)
    await server.runtime.clock.advance(seconds * 1_000)
    expect(await verify(byLink.client, { token: byLink.token, password })).toBe(outcome)
    const email = `code${seconds}@example.test`
    expect(await verify(byCode.client, { email, code: byCode.code, password })).toBe(outcome)
  })

  test('ATK-056 no date of the client moves an end', async () => {
    const { client, token } = await register('dated@example.test')
    await server.runtime.clock.advance('25h')
    const headers = { date: 'Thu, 01 Jan 2026 00:00:00 GMT', 'x-timestamp': '0' }
    const late = await client.post('/auth/verify-email', { token, password, now: 0, timestamp: 0 }, { headers })
    expect(late.body).toMatchObject({ code: 'invalid_token' })
  })
})
