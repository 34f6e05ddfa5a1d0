import { afterAll, describe, expect, test } from 'vitest'
import type { TestClient } from '../../src/testing.js'
import { attackServer, expectRefusal } from '../support/attack-server.js'
import { testAuth } from '../support/auth.js'
import { failingDatabase } from '../support/failing-database.js'

const server = await attackServer({ file: true })
afterAll(() => server.close())

const password = 'correct horse battery'
const subject = 'Your code to sign in'
const wrongCodes = Array.from({ length: 1_000 }, (_, nth) => String(nth).padStart(6, '0'))
let serial = 0

/** A verified account. */
async function account(): Promise<string> {
  serial += 1
  const email = `alice${serial}@example.test`
  await server.auth.users.create({ email, password, emailVerified: true })
  return email
}

interface Asked {
  client: TestClient
  email: string
  token: string
  code: string
}

async function ask(email: string, client = server.client()): Promise<Asked> {
  expect((await client.post('/auth/otp', { email })).body).toEqual({ status: 'code_sent' })
  const mail = await server.mailbox.waitFor(email, subject)
  return { client, email, token: server.mailbox.token(mail), code: server.mailbox.code(mail) }
}

/** `ok`, or the code of the problem. */
async function verify(client: TestClient, proof: object): Promise<string> {
  const { status, body } = await client.post<{ code?: string }>('/auth/otp/verify', proof)
  return status === 200 ? 'ok' : (body.code ?? String(status))
}

/** Six digits that are not the code. */
function wrong({ code }: Asked, nth: number): string {
  return wrongCodes[(Number(code) + nth) % wrongCodes.length] ?? ''
}

function tries(email: string): number[] {
  const query = "select tries from latchkey_one_time_tokens where email = ? and purpose = 'otp' order by ordinal"
  return server.sql<{ tries: number }>(query, email).map((row) => row.tries)
}

function sessionsOf(email: string): number {
  const query =
    'select count(*) as n from latchkey_sessions where user_id = (select id from latchkey_users where email = ?)'
  return server.sql<{ n: number }>(query, email)[0]?.n ?? 0
}

describe('ATK-022 guessing a code', () => {
  test.each([
    ['four wrong codes leave', 4, 'ok'],
    ['five wrong codes kill', 5, 'invalid_token'],
  ])('ATK-022 %s the right one', async (_title, guesses, outcome) => {
    const asked = await ask(await account())
    const { client, email, code, token } = asked
    for (let nth = 1; nth <= guesses; nth += 1) {
      expect(await verify(client, { email, code: wrong(asked, nth) })).toBe('invalid_token')
    }
    expect(await verify(client, { email, code })).toBe(outcome)
    // The link holds 256 bits: nobody guesses it, and it still works.
    if (outcome !== 'ok') expect(await verify(client, { token })).toBe('ok')
  })

  test('ATK-017 twenty guesses at once count as five, and then the right code is dead', async () => {
    const asked = await ask(await account())
    const { client, email, code } = asked
    const guesses = Array.from({ length: 20 }, (_, nth) =>
      verify(client.copy(), { email, code: wrong(asked, nth + 1) }),
    )
    expect(new Set(await Promise.all(guesses))).toEqual(new Set(['invalid_token']))
    expect(tries(email)).toEqual([5])
    expect(await verify(client, { email, code })).toBe('invalid_token')
  })
})

describe('ATK-008 what a guess costs', () => {
  test('ATK-008 a wrong code takes the same statements of the store for everybody', async () => {
    const database = failingDatabase()
    const { auth, client, runtime } = await testAuth({ database: database.dialect })
    await auth.users.create({ email: 'known@example.test', emailVerified: true })
    const disabled = await auth.users.create({ email: 'disabled@example.test', emailVerified: true })
    await auth.users.disable(disabled.id)

    const statements: number[][] = []
    for (const email of ['known@example.test', 'disabled@example.test', 'unknown@example.test']) {
      const browser = client()
      await browser.post('/auth/otp', { email })
      await runtime.clock.advance('3s')
      const spent: number[] = []
      for (const guessing of [browser, client()]) {
        database.failAfter(Number.POSITIVE_INFINITY)
        await guessing.post('/auth/otp/verify', { email, code: 'never' })
        spent.push(database.ran)
      }
      statements.push(spent)
    }
    expect(statements[0]?.every((ran) => ran > 0)).toBe(true)
    expect(statements).toEqual([statements[0], statements[0], statements[0]])
  })
})

describe('ATK-024 many codes', () => {
  test('ATK-024 of ten that two browsers asked for, only the newest of each is good', async () => {
    const email = await account()
    const [one, two] = [server.client(), server.client()]
    const all: Asked[] = []
    for (let nth = 0; nth < 10; nth += 1) all.push(await ask(email, nth % 2 === 0 ? one : two))
    expect(tries(email)).toHaveLength(2)
    const newest = all.slice(-2)
    for (const { client, token, code } of all.slice(0, -2)) {
      if (newest.every((each) => each.code !== code))
        expect(await verify(client, { email, code })).toBe('invalid_token')
      expect(await verify(client, { token })).toBe('invalid_token')
    }
    for (const { client, code } of newest) expect(await verify(client, { email, code })).toBe('ok')
  })

  test('ATK-024 of ten browsers that ask, three have a code that is good', async () => {
    const email = await account()
    const all: Asked[] = []
    for (let nth = 0; nth < 10; nth += 1) all.push(await ask(email))
    expect(tries(email)).toHaveLength(3)
    for (const { client, token } of all.slice(0, -3)) expect(await verify(client, { token })).toBe('invalid_token')
  })
})

describe('ATK-025 a code is good once', () => {
  test.each(['code', 'token'] as const)('ATK-025 by its %s, and its other half dies with it', async (by) => {
    const { client, email, code, token } = await ask(await account())
    const copy = client.copy()
    expect(await verify(client, by === 'code' ? { email, code } : { token })).toBe('ok')
    expect(await verify(copy, { email, code })).toBe('invalid_token')
    expect(await verify(copy, { token })).toBe('invalid_token')
    expect(sessionsOf(email)).toBe(1)
  })

  test('ATK-025 twenty at once open one session', async () => {
    const { client, email, code, token } = await ask(await account())
    const all = Array.from({ length: 20 }, (_, nth) =>
      verify(client.copy(), nth % 4 === 0 ? { email, code } : { token }),
    )
    const outcomes = await Promise.all(all)
    expect(outcomes.filter((outcome) => outcome === 'ok')).toHaveLength(1)
    expect(new Set(outcomes)).toEqual(new Set(['ok', 'invalid_token']))
    expect(sessionsOf(email)).toBe(1)
  })
})

describe('ATK-026 what is no code', () => {
  const spelled = [
    ...['', ' ', '0', '12345', '1234567', '12345678', 'abcdef', '12 345', '123-456', '+12345', '-12345', '0x1234'],
    ...[
      '１２３４５６',
      '١٢٣٤٥٦',
      '123456\n',
      '123456\0',
      '123456,755224',
      'NaN',
      '000000',
      '1e5   ',
      'undefined',
      'null',
    ],
  ]
  const typed = [null, undefined, true, 123456, 0, ['755224'], ['755224', '287082'], { $ne: null }, { $gt: '' }, [], {}]

  test.each([...spelled, ...typed])(
    'ATK-026 %j is refused, with and without a pending code, for everybody',
    async (code) => {
      const email = await account()
      const { client } = await ask(email)
      const stranger = server.client()
      await stranger.post('/auth/otp', { email: 'nobody@example.test' })
      for (const [by, body] of [
        [client, { email, code }],
        [client, { token: code }],
        [stranger, { email: 'nobody@example.test', code }],
        [server.client(), { email, code }],
        [server.client({ as: 'token' }), { email, code, transaction: code }],
        [client, { email: code, code }],
      ] as const) {
        expect(['invalid_token', 'invalid_request']).toContain(await verify(by, body))
      }
      expect(sessionsOf(email)).toBe(0)
    },
  )

  test('ATK-026 the right code in other digits, or with something around it, is refused', async () => {
    const { client, email, code } = await ask(await account())
    const full = [...code].map((digit) => String.fromCodePoint(0xff10 + Number(digit))).join('')
    const arabic = [...code].map((digit) => String.fromCodePoint(0x660 + Number(digit))).join('')
    for (const spelling of [full, arabic, `${code}.`, `${code}\0`]) {
      expect(await verify(client, { email, code: spelling })).toBe('invalid_token')
    }
    for (const value of [Number(code), [code], { code }, code.slice(0, 3)]) {
      expect(await verify(client, { email, code: value })).toBe('invalid_request')
    }
    expect(await verify(client, { email, code })).toBe('ok')
  })

  test('ATK-044 two recipients are no address, and nobody is mailed', async () => {
    const email = await account()
    const before = server.mailbox.mails.length
    for (const to of [
      `${email},evil@example.test`,
      [email, 'evil@example.test'],
      `${email}\r\nBcc: evil@example.test`,
    ]) {
      expectRefusal(await server.ask('POST', '/auth/otp', { body: { email: to } }), 400)
    }
    await expect.poll(() => server.sql('select id from latchkey_outbox')).toEqual([])
    expect(server.mailbox.mails).toHaveLength(before)
  })
})

describe('ATK-027 a code belongs to the browser that asked', () => {
  test('ATK-027 a code that was phished is worth nothing in another browser, and no guess is lost by it', async () => {
    const { client, email, code, token } = await ask(await account())
    const other = await ask(await account())
    for (const stranger of [server.client(), other.client]) {
      for (let nth = 0; nth < 10; nth += 1) expect(await verify(stranger, { email, code })).toBe('invalid_token')
      expect(await verify(stranger, { token })).toBe('invalid_token')
    }
    expect(tries(email)).toEqual([0])
    expect(await verify(client, { email, code })).toBe('ok')
  })

  test('ATK-027 a code that somebody else asked for signs nobody in at the owner’s', async () => {
    const email = await account()
    const attacker = await ask(email)
    const owner = server.client()
    expect(await verify(owner, { email, code: attacker.code })).toBe('invalid_token')
    expect(await verify(owner, { token: attacker.token })).toBe('invalid_token')
    expect(sessionsOf(email)).toBe(0)
  })

  test('ATK-027 the handle of one request does not open another of the same browser', async () => {
    const [first, second] = [await account(), await account()]
    const browser = server.client()
    const older = await ask(first, browser)
    await ask(second, browser)
    expect(await verify(browser, { email: first, code: older.code })).toBe('invalid_token')
  })

  test('ATK-027 in token mode the handle is the transaction of the answer, and only there', async () => {
    const email = await account()
    const app = server.client({ as: 'token' })
    const { body, headers } = await app.post<{ status: string; transaction: string }>('/auth/otp', { email })
    expect(headers.getSetCookie()).toEqual([])
    expect(Object.keys(body)).toEqual(['status', 'transaction'])
    const mail = await server.mailbox.waitFor(email, subject)
    const proof = { email, code: server.mailbox.code(mail) }
    const { transaction } = body
    // A browser may not bring it in the body, nor an app as a cookie.
    expect(await verify(server.client(), { ...proof, transaction })).toBe('invalid_token')
    expect(await verify(app, proof)).toBe('invalid_token')
    expect(await verify(app, { ...proof, transaction: `${transaction}x` })).toBe('invalid_token')
    expect(await verify(app, { ...proof, transaction: server.mailbox.token(mail) })).toBe('invalid_token')
    expect(await verify(app, { ...proof, transaction })).toBe('ok')
    expect(app.tokens()).not.toBeNull()
  })

  test('ATK-078 the handle alone is a cookie of ours: without a word of where it comes from it is refused', async () => {
    const { client, token } = await ask(await account())
    const headers = { cookie: `otp=${client.cookies.get('otp')}` }
    const answer = await server.ask('POST', '/auth/otp/verify', { headers, body: { token } })
    expect(answer.body).toMatchObject({ status: 403, code: 'csrf_rejected' })
    expect(await verify(client, { token })).toBe('ok')
  })

  test('ATK-041 code, link and handle are taken for nothing else, and nothing else for them', async () => {
    const { client, email, token, code } = await ask(await account())
    const handle = client.cookies.get('otp') ?? ''
    for (const secret of [token, handle, code]) {
      for (const [path, body] of [
        ['/auth/password/reset', { token: secret, password: 'another fine phrase' }],
        ['/auth/verify-email', { token: secret, password }],
        ['/auth/refresh', { refreshToken: secret }],
      ] as const) {
        expectRefusal(await server.ask('POST', path, { body }), 400, 401)
      }
      expectRefusal(await server.ask('GET', '/api/secret', { headers: { authorization: `Bearer ${secret}` } }), 401)
      expectRefusal(await server.ask('GET', '/api/secret', { headers: { cookie: `access-token=${secret}` } }), 401)
    }
    expect(await verify(client, { token: handle })).toBe('invalid_token')
    await client.post('/auth/password/forgot', { email })
    const reset = server.mailbox.token(await server.mailbox.waitFor(email, 'Choose a new password'))
    expect(await verify(client, { token: reset })).toBe('invalid_token')
    expect(await verify(client, { token })).toBe('ok')
  })
})

describe('ATK-028 lifetime', () => {
  test.each([
    ['9:59', 599, 'ok'],
    ['10:00', 600, 'invalid_token'],
    ['10:01', 601, 'invalid_token'],
  ])('ATK-028 after %s a code and a link end as they have to', async (_when, seconds, outcome) => {
    const [byCode, byLink] = [await ask(await account()), await ask(await account())]
    const handles = [byCode, byLink].map(({ client }) => client.cookies.get('otp') ?? '')
    await server.runtime.clock.advance(seconds * 1_000)
    // The cookie ends by then, too; somebody may have kept it.
    const headers = (nth: number) => ({ headers: { cookie: `otp=${handles[nth]}` } })
    const { email, code } = byCode
    const answers = [
      await byCode.client.post('/auth/otp/verify', { email, code }, headers(0)),
      await byLink.client.post('/auth/otp/verify', { token: byLink.token }, headers(1)),
    ]
    for (const { status, body } of answers) {
      if (outcome === 'ok') expect(status).toBe(200)
      else expect(body).toMatchObject({ status: 400, code: outcome })
    }
  })
})

describe('ATK-029 an account that somebody planted', () => {
  test('ATK-029 the first proof of the mailbox leaves nothing of it but the address', async () => {
    const hasty = await attackServer({ file: true, settings: { registration: { emailVerification: 'optional' } } })
    try {
      const victim = 'victim@example.test'
      const attacker = hasty.client()
      await attacker.signUp({ email: victim, password, name: 'Evil' })
      const app = hasty.client({ as: 'token' })
      await app.signIn({ email: victim, password })
      const confirmation = hasty.mailbox.token(await hasty.mailbox.waitFor(victim, 'Confirm'))
      await attacker.post('/auth/password/forgot', { email: victim })
      const reset = hasty.mailbox.token(await hasty.mailbox.waitFor(victim, 'Choose a new password'))
      // As a second factor that was set up before anybody confirmed the address.
      hasty.sql(
        'update latchkey_users set totp_secret = \'k.x\', totp_step = 1, totp_at = 1, fields = \'{"plan":"pro"}\'',
      )
      hasty.sql("insert into latchkey_backup_codes select 'planted', id, 'k.x' from latchkey_users")
      expect(hasty.sql('select id from latchkey_devices')).toHaveLength(1)

      const owner = hasty.client()
      await owner.post('/auth/otp', { email: victim })
      const mail = await hasty.mailbox.waitFor(victim, subject)
      expect(mail.text + mail.html + mail.subject).not.toContain('Evil')
      const answer = await owner.post('/auth/otp/verify', { email: victim, code: hasty.mailbox.code(mail) })
      expect(answer.body).toMatchObject({ user: { email: victim, emailVerified: true, name: null, twoFactor: false } })
      expect(answer.body).not.toHaveProperty('user.plan')

      expect((await attacker.post('/auth/login', { email: victim, password })).body).toMatchObject({
        code: 'invalid_credentials',
      })
      for (const client of [attacker, app]) {
        expect((await client.get('/api/secret')).status).toBe(401)
        expect((await client.refresh()).body).toMatchObject({ code: 'token_revoked' })
      }
      for (const [path, body] of [
        ['/auth/verify-email', { token: confirmation, password }],
        ['/auth/password/reset', { token: reset, password }],
      ] as const) {
        expect((await attacker.post(path, body)).body).toMatchObject({ code: 'invalid_token' })
      }
      expect(hasty.sql('select password_hash, totp_secret, totp_step, totp_at from latchkey_users')).toEqual([
        { password_hash: null, totp_secret: null, totp_step: null, totp_at: null },
      ])
      expect(hasty.sql('select id from latchkey_backup_codes')).toEqual([])
      expect(hasty.sql('select id from latchkey_devices')).toHaveLength(1)
      expect((await owner.get('/api/secret')).status).toBe(200)
      const { items } = await hasty.auth.sessions.list((await hasty.auth.users.findByEmail(victim))?.id ?? '')
      expect(items).toHaveLength(1)
    } finally {
      await hasty.close()
    }
  })

  test('ATK-029 a verified account keeps everything it has', async () => {
    const email = await account()
    const phone = server.client()
    await phone.signIn({ email, password })
    const { client, code } = await ask(email)
    expect(await verify(client, { email, code })).toBe('ok')
    expect((await phone.get('/api/secret')).status).toBe(200)
    await server.client().signIn({ email, password })
  })

  test('ATK-029 no account comes of a code: an address without one gets none', async () => {
    const email = 'nobody-at-all@example.test'
    const client = server.client()
    await client.post('/auth/otp', { email })
    expect(await verify(client, { email, code: '000000' })).toBe('invalid_token')
    expect(await server.auth.users.findByEmail(email)).toBeNull()
    expect(server.mailbox.latest(email)).toBeNull()
  })
})

describe('ATK-066 whoever was disabled or deleted meanwhile', () => {
  test.each(['disable', 'delete'] as const)('ATK-066 a code from before %s is worth nothing', async (end) => {
    const { client, email, code, token } = await ask(await account())
    await server.auth.users[end]((await server.auth.users.findByEmail(email))?.id ?? '')
    expect(await verify(client, { email, code })).toBe('invalid_token')
    expect(await verify(client, { token })).toBe('invalid_token')
  })

  test('ATK-038 a reset drops a code that waits', async () => {
    const { client, email, code } = await ask(await account())
    await client.post('/auth/password/forgot', { email })
    const token = server.mailbox.token(await server.mailbox.waitFor(email, 'Choose a new password'))
    expect((await client.post('/auth/password/reset', { token, password: 'another fine phrase' })).status).toBe(200)
    expect(await verify(client, { email, code })).toBe('invalid_token')
  })
})

describe('ATK-073 who was signed in before', () => {
  test('ATK-073 a planted session ends, and the new one is under a new id', async () => {
    const [mallory, email] = [await account(), await account()]
    const browser = server.client()
    const plantedSession = await browser.signIn({ email: mallory, password })
    const { code } = await ask(email, browser)
    const { body } = await browser.post<typeof plantedSession.body>('/auth/otp/verify', { email, code })
    expect(body.user.email).toBe(email)
    expect(body.session.id).not.toBe(plantedSession.body.session.id)
    expect(sessionsOf(mallory)).toBe(0)
  })
})
