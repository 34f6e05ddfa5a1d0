import { expect } from 'vitest'
import type { LatchkeySettings } from '../../src/index.js'
import type { TestClient, TestTransport } from '../../src/testing.js'
import { type AttackServer, heldTokens } from '../support/attack-server.js'
import { factorOf, firstStep, secretBytes, totpCode } from '../support/totp.js'

/** Every secret of a run, by what it is. Filled as they come to be. */
export type Secrets = Map<string, string>

export const keys = {
  JWT_ACCESS_TOKEN_SECRET: 'kR2vXq9TzLw4sYh8mPc6nBd3fGj7aEu1',
  JWT_REFRESH_TOKEN_SECRET: 'Zt5yWc8rNb2kQm7xHs4vLd9gJf6pTa3e',
  encryptionKey: 'Ue4wGz7qRk2nXs9dBv6mJc3hTf8yLp5a',
  password: { pepper: 'Mn8cVx3zQa6wSe9rDf2tGy5hUj4kIo7p' },
} satisfies Partial<LatchkeySettings>

const passwords = {
  first: 'tangerine Kestrel 41',
  wrong: 'marmalade Osprey 52',
  plantedRegistration: 'vermilion Harrier 63',
}

/**
 * Everything that Latchkey can do so far, on one server: registrations of which some are confirmed, by link and by code,
 * by browsers and apps; sign-ins, right and wrong, by password and by mailed code; refreshes, a theft, sign-outs,
 * changes and a deletion. After each step `look` is called, with all secrets so far.
 */
export async function live(server: AttackServer, secrets: Secrets, look: (step: string) => void): Promise<void> {
  secrets.set('access secret', keys.JWT_ACCESS_TOKEN_SECRET).set('refresh secret', keys.JWT_REFRESH_TOKEN_SECRET)
  secrets.set('encryption key', keys.encryptionKey).set('pepper', keys.password.pepper)
  for (const [name, password] of Object.entries(passwords)) secrets.set(`password ${name}`, password)

  const { clock } = server.runtime
  const browser = server.client()
  const alice = { email: 'alice@example.test', password: passwords.first, name: 'Alice' }

  /** A run in which a step goes another way than meant would look for nothing. */
  async function step(name: string, status: number, run: () => Promise<{ status: number; text: string }>) {
    const answer = await run()
    expect([name, answer.status], answer.text).toEqual([name, status])
    look(name)
  }
  function note(name: string, client: TestClient): void {
    const { access, refresh } = heldTokens(client)
    secrets.set(`access token ${name}`, access).set(`refresh token ${name}`, refresh)
  }
  async function mailed(name: string, to: string): Promise<{ token: string; code: string }> {
    const mail = await server.mailbox.waitFor(to)
    const [token, code] = [server.mailbox.token(mail), server.mailbox.code(mail)]
    secrets.set(`link token ${name}`, token).set(`code ${name}`, code)
    look(`mail ${name} waits`)
    return { token, code }
  }
  async function linked(name: string, to: string, subject: string): Promise<string> {
    const token = server.mailbox.token(await server.mailbox.waitFor(to, subject))
    secrets.set(`link token ${name}`, token)
    look(`mail ${name} waits`)
    return token
  }
  async function register(name: string, client: TestClient, account: { email: string; password: string }) {
    const { body } = await client.post<{ transaction?: string }>('/auth/register', account)
    secrets.set(`handle ${name}`, body.transaction ?? client.cookies.get('registration') ?? '')
    look(`register ${name}`)
    return mailed(name, account.email)
  }

  await register('planted', server.client(), { ...alice, password: passwords.plantedRegistration })
  const first = await register('first', browser, alice)
  await step('login before confirmation', 403, () => server.client().post('/auth/login', alice))
  const again = await mailed('again', alice.email)
  await step('wrong code', 400, () => browser.post('/auth/verify-email', { email: alice.email, code: first.code }))
  await step('used link', 400, () => browser.post('/auth/verify-email', { token: first.token }))
  await step('confirm', 200, () => browser.post('/auth/verify-email', { token: again.token }))
  note('confirmed', browser)
  await step('ask for a code', 202, () => browser.post('/auth/otp', { email: alice.email }))
  secrets.set('handle code', browser.cookies.get('otp') ?? '')
  const otp = await mailed('otp', alice.email)
  const proof = { email: alice.email, code: otp.code }
  await step('code elsewhere', 400, () => server.client().post('/auth/otp/verify', proof))
  await step('wrong code', 400, () => browser.post('/auth/otp/verify', { ...proof, code: first.code }))
  await step('sign in by code', 200, () => browser.post('/auth/otp/verify', proof))
  note('by code', browser)
  await step('used code', 400, () => browser.post('/auth/otp/verify', { token: otp.token }))
  await step('code for nobody', 202, () => server.client().post('/auth/otp', { email: 'nobody@example.test' }))
  await step('decoy', 202, () =>
    server.client().post('/auth/register', { ...alice, password: passwords.plantedRegistration }),
  )

  const app = server.client({ as: 'token' })
  const bob = { email: 'bob@example.test', password: passwords.first }
  const { code } = await register('bob', app, bob)
  const transaction = secrets.get('handle bob')
  await step('confirm by code', 200, () => app.post('/auth/verify-email', { email: bob.email, code, transaction }))
  note('app', app)

  await step('wrong password', 401, () => server.client().post('/auth/login', { ...alice, password: passwords.wrong }))
  await step('password as address', 400, () =>
    server.client().post('/auth/login', { ...alice, email: passwords.wrong }),
  )
  await step('use', 200, () => browser.get('/api/secret'))
  await step('profile', 200, () => browser.patch('/auth/me', { name: 'Alice Liddell' }))
  const thief = browser.copy()
  for (let turn = 1; turn <= 3; turn += 1) {
    await step('refresh', 200, () => browser.refresh())
    note(`turn ${turn}`, browser)
    await step('use', 200, () => browser.get('/api/secret'))
    await clock.advance('1m')
  }
  await step('theft', 401, () => thief.refresh())
  await step('app refresh', 200, () => app.refresh())
  note('app again', app)
  await breakThings(server, secrets)
  look('broken tokens')
  await step('sign in', 200, () => browser.signIn(alice))
  note('signed in', browser)
  await liveWithTwoFactors(server, secrets, browser, alice, { step, look })
  note('without a factor', browser)
  await step('sessions', 200, () => browser.get('/auth/sessions'))
  await server.client().signIn(alice)
  await step('revoke others', 204, () => browser.delete('/auth/sessions'))
  const change = { newEmail: 'liddell@example.test', password: alice.password }
  await step('change address', 202, () => browser.post('/auth/email/change', change))
  const token = await linked('change', change.newEmail, 'Confirm your new')
  await step('confirm address', 200, () => browser.post('/auth/email/confirm', { token }))
  note('moved', browser)
  const back = await linked('undo', alice.email, 'was changed')
  await step('undo', 200, () => browser.post('/auth/email/undo', { token: back }))
  await step('used undo', 400, () => browser.post('/auth/email/undo', { token: back }))
  await browser.signIn(alice)
  await step('sign out', 204, () => browser.signOut())
  await step('sign out app', 204, () => app.signOut())
  await browser.signIn(alice)
  note('last', browser)
  await step('wrong deletion', 401, () => browser.delete('/auth/me', { password: passwords.wrong }))
  await step('delete', 204, () => browser.delete('/auth/me', { password: passwords.first }))
}

/** Sets a second factor up, signs in with it in every way, and turns it off again. */
async function liveWithTwoFactors(
  server: AttackServer,
  secrets: Secrets,
  browser: TestClient,
  alice: { email: string; password: string },
  { step, look }: { step: Step; look: (name: string) => void },
): Promise<void> {
  const { clock } = server.runtime
  const { password } = alice
  const knowCodes = (name: string, codes: readonly string[]) => {
    for (const [index, code] of codes.entries()) {
      secrets.set(`backup ${name} ${index}`, code).set(`bare backup ${name} ${index}`, code.replace('-', ''))
    }
  }
  async function challenge(name: string): Promise<string> {
    const secret = await firstStep(server.client(), alice)
    secrets.set(`link token challenge ${name}`, secret)
    look(`challenge ${name}`)
    return secret
  }

  const begun = await browser.post<{ secret: string }>('/auth/two-factor/totp', { password })
  const { secret } = begun.body
  secrets.set('seed', secret)
  look('enrolment')
  const code = totpCode(secret, clock.now())
  secrets.set('code of the authenticator', code)
  const confirmed = await browser.post<{ backupCodes: string[] }>('/auth/two-factor/totp/confirm', { code })
  knowCodes('first', confirmed.body.backupCodes)
  look('factor on')
  const factor = factorOf(secret, confirmed.body.backupCodes, clock)

  const pass = (name: string, status: number, body: object) =>
    step(name, status, () => browser.post('/auth/login/two-factor', body))
  const first = await challenge('by code')
  await pass('wrong second step', 401, { challenge: first, code: factor.wrongCode() })
  await pass('replayed second step', 401, { challenge: first, code })
  await pass('second step', 200, { challenge: first, code: await factor.nextCode() })
  await pass('dead challenge', 400, { challenge: first, code: factor.code() })
  await pass('backup code', 200, { challenge: await challenge('by backup code'), code: factor.backupCodes[0] })
  const proof = { password, code: await factor.nextCode() }
  const renewed = await browser.post<{ backupCodes: string[] }>('/auth/two-factor/backup-codes', proof)
  knowCodes('second', renewed.body.backupCodes)
  look('backup codes renewed')
  await step('wrong code for the factor', 401, () => browser.delete('/auth/two-factor', proof))
  const last = { password, code: renewed.body.backupCodes[5] }
  await step('factor off', 204, () => browser.delete('/auth/two-factor', last))
}

type Step = (name: string, status: number, run: () => Promise<{ status: number; text: string }>) => Promise<void>

/** Secrets where they do not belong: in queries, paths, other headers, broken bodies. */
async function breakThings(server: AttackServer, secrets: Secrets): Promise<void> {
  const [access = '', token = '', password = ''] = ['access token app', 'link token bob', 'password first'].map(
    (name) => secrets.get(name),
  )
  const headers = { authorization: `Bearer ${access}x`, 'user-agent': `Mozilla ${password}`, 'x-request-id': token }
  await server.ask('GET', `/api/secret?access_token=${access}&token=${token}`, { headers })
  await server.ask('POST', `/auth/login?password=${encodeURIComponent(password)}`, {
    body: `{"password":"${password}"`,
  })
  await server.ask('POST', '/auth/verify-email', { body: { token: `${token}x`, password } })
  await server.ask('POST', '/auth/login', { body: { email: password, password: { $ne: password } } })
  await server.ask('GET', `/auth/${token}`)
  await server.ask('DELETE', `/auth/sessions/${token}`, { headers: { authorization: `Bearer ${access}` } })
}

/** A transport that shows each mail once and refuses them all until it is let: meanwhile they stay in the outbox. */
export function refusingTransport(inner: TestTransport): { transport: TestTransport; letGo(): void } {
  const seen = new Set<string>()
  let refusing = true
  return {
    transport: {
      ...inner,
      send(mail, callback) {
        const text = String(Reflect.get(Object(mail.data), 'text'))
        const sent = { envelope: {}, messageId: '' }
        const answer = () => callback(refusing ? new Error('try again later') : null, sent)
        if (seen.has(text)) return answer()
        seen.add(text)
        inner.send(mail, answer)
      },
    },
    letGo() {
      refusing = false
    },
  }
}

/** How a secret may stand in a store or a log: as it is, escaped, in hexadecimal, and in base64 at any alignment. */
function spellings(name: string, secret: string): Buffer[] {
  const texts = [
    secret,
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
    [...secret].reverse().join(''),
  ]
  // Random values are text for bytes, and of a JWT the signature is what makes it worth something.
  const bytes = [Buffer.from(secret), Buffer.from(secret, 'utf16le')]
  if (name === 'seed') bytes.push(secretBytes(secret))
  if (/^(link|handle)/.test(name)) bytes.push(Buffer.from(secret, 'base64url'))
  if (/^(access|refresh) token/.test(name)) texts.push(secret.split('.')[2] ?? secret)
  const all = [...texts.map((text) => Buffer.from(text)), ...bytes.flatMap(encodings)]
  return [...new Map(all.map((spelling) => [spelling.toString('latin1'), spelling])).values()]
}

function encodings(bytes: Buffer): Buffer[] {
  const hex = bytes.toString('hex')
  const base64 = [0, 1, 2].flatMap((shift) => {
    const text = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64url')
    // What the neighbours' bits are mixed into is left out.
    const whole = text.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + bytes.length) * 8) / 6))
    return [whole, whole.replaceAll('-', '+').replaceAll('_', '/')]
  })
  return [bytes, ...[hex, hex.toUpperCase(), ...base64].map((text) => Buffer.from(text))]
}

export const codesOf = (secrets: Secrets) => [...secrets].filter(([name]) => name.startsWith('code'))
export const withoutCodes = (secrets: Secrets) => [...secrets].filter(([name]) => !name.startsWith('code'))

/** The secrets of which a spelling is in the bytes, by name. */
export function secretsIn(bytes: Buffer, secrets: Iterable<readonly [name: string, secret: string]>): string[] {
  const names = new Map([...secrets].flatMap(([name, secret]) => spellings(name, secret).map((each) => [each, name])))
  return [...new Set(foundIn(bytes, [...names.keys()]).map((spelling) => names.get(spelling) ?? ''))]
}

const filterBits = 20

/** Which needles, of four bytes or more, are in the bytes. One pass looks for all: one after the other, hundreds take minutes. */
function foundIn(bytes: Buffer, needles: readonly Buffer[]): Buffer[] {
  const byStart = new Map<number, Buffer[]>()
  const mayStart = new Uint8Array(2 ** filterBits)
  const placeOf = (word: number) => Math.imul(word, 0x9e3779b1) >>> (32 - filterBits)
  for (const needle of needles) {
    const start = needle.readInt32BE(0)
    byStart.set(start, [...(byStart.get(start) ?? []), needle])
    mayStart[placeOf(start)] = 1
  }

  const found: Buffer[] = []
  let word = 0
  for (let end = 1; end <= bytes.length; end += 1) {
    word = (word << 8) | (bytes[end - 1] ?? 0)
    if (end < 4 || mayStart[placeOf(word)] === 0) continue
    const here = (byStart.get(word) ?? []).filter((needle) =>
      needle.equals(bytes.subarray(end - 4, end - 4 + needle.length)),
    )
    found.push(...here)
  }
  return found
}
