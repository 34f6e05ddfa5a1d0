import { join } from 'node:path'
import { hash as bcrypt } from 'bcryptjs'
import Database from 'better-sqlite3'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Auth, CodehooksAuthUser, ImportedAccount } from '../../src/index.js'
import { BoundedHashPool } from '../../src/passwords/hash-pool.js'
import { hasArgon2 } from '../support/addons.js'
import { ada, sharedSettings, temporaryFolder, testAuth } from '../support/auth.js'
import { failingDatabase } from '../support/failing-database.js'

const old = await bcrypt(ada.password, 4)
const salt = 'MDEyMzQ1Njc4OWFiY2RlZg'

/** Hashes of `correct horse battery staple`, by the software of `test/passwords/imported.test.ts`. */
const password = 'correct horse battery staple'
const foreign: readonly (readonly [kind: string, passwordHash: string])[] = [
  ['$2b$', await bcrypt(password, 5)],
  ['$2a$', '$2a$04$abcdefghijklmnopqrstuu7EJV7kdjBBQxyb0HjTh9KS7.Lah/6CG'],
  ['argon2id', `$argon2id$v=19$m=65536,t=3,p=4$${salt}$77UfmnZYT23WpPeUKhovauWm5OxRQv9nTf1dJ+tF5EY`],
  ['scrypt', `$scrypt$ln=10,r=8,p=1$${salt}$7AnzIswxwEinpwz+ntydndYfVHPvOACmX9Vvo8hO1qM`],
  [
    'better-auth',
    '00112233445566778899aabbccddeeff:f5b22309b28fe412c82a4b2cab57498b8f8a42c849af16cb908974048f61c13933421858db3a8f111430bdc493c7cef90f61f904061c77206e3820a2e8b11bc2',
  ],
  ['PBKDF2', `$pbkdf2-sha256$i=1000,l=32$${salt}$yqSq2SygY1sB4EcH9f2FG0JTMES+wqLsOT5YmiRBplI`],
  ['Django', 'pbkdf2_sha256$1000$aSaltOf22Characters012$dXk6Z5V0CkhtKDWqxQ34iuSkm76WskzPhUAeQQCzGAg='],
]

/** A store that the test can look into. */
async function openAuth(overrides: Parameters<typeof testAuth>[0] = {}) {
  const file = join(temporaryFolder(), 'latchkey.db')
  const world = await testAuth({ database: `sqlite:${file}`, ...overrides })
  const database = new Database(file, { readonly: true })
  onTestFinished(() => void database.close())
  return {
    ...world,
    stored(email: string): string {
      const row: unknown = database
        .prepare('select password_hash from latchkey_users where email_canonical = ?')
        .get(email)
      return String(Reflect.get(Object(row), 'password_hash'))
    },
    audited: () => database.prepare('select event, user_id, actor, detail from latchkey_audit order by seq').all(),
  }
}

/** What no declaration allows, as it comes out of a file all the same. */
function importAnything(auth: Pick<Auth, 'users'>, records: unknown) {
  return Reflect.apply(auth.users.import, auth.users, [records])
}

describe('accounts that are taken over', () => {
  it.for(foreign)(
    'sign in with the password of their %s hash, and have one of today’s then',
    async ([kind, hash], { skip }) => {
      skip(kind === 'argon2id' && !hasArgon2, 'needs @node-rs/argon2')
      const { auth, client, stored, mailbox } = await openAuth()
      const report = await auth.users.import([{ email: ada.email, passwordHash: hash, emailVerified: true }])
      expect(report).toMatchObject({ created: 1, skipped: 0, failed: 0 })
      expect(stored(ada.email)).toBe(hash)

      expect((await client().post('/auth/login', { ...ada, password: `${password}!` })).status).toBe(401)
      expect(stored(ada.email)).toBe(hash)
      expect((await client().signIn({ ...ada, password })).body.user.id).toBe(report.items[0]?.id)
      expect(stored(ada.email)).toMatch(/^hmac-sha384:-:\$2b\$04\$/)
      await client().signIn({ ...ada, password })
      expect(mailbox.mails).toEqual([])
    },
  )

  it('keep what they have: name, roles, fields, age, and being disabled', async () => {
    const { auth, client } = await openAuth()
    const createdAt = '2019-05-17T09:30:00.000Z'
    const { items } = await auth.users.import([
      {
        email: 'Ada@Example.test',
        name: ' Ada ',
        passwordHash: old,
        emailVerified: true,
        roles: ['EDITOR', 'EDITOR'],
        fields: { plan: 'pro', seats: 3, tags: ['a', null], nothing: undefined },
        createdAt,
      },
      { email: 'grace@example.test', passwordHash: old, emailVerified: true, disabled: true, createdAt: new Date(0) },
    ])
    const [first, second] = await Promise.all(items.map(({ id = '' }) => auth.users.get(id)))
    expect(first).toMatchObject({ email: 'Ada@Example.test', name: 'Ada', roles: ['EDITOR'], createdAt, plan: 'pro' })
    expect(first).toMatchObject({ seats: 3, tags: ['a', null], emailVerified: true, disabledAt: null })
    expect(second).toMatchObject({ createdAt: '1970-01-01T00:00:00.000Z', disabledAt: expect.any(String) })
    await client().signIn(ada)
    const shut = await client().post('/auth/login', { ...ada, email: 'grace@example.test' })
    expect(shut.body).toMatchObject({ code: 'account_disabled' })
  })

  it('have to confirm an address that is not known to be theirs, and may have no password yet', async () => {
    const { auth, client, mailbox } = await openAuth()
    await auth.users.import([{ email: ada.email, passwordHash: old }, { email: 'grace@example.test' }])
    expect((await client().post('/auth/login', ada)).body).toMatchObject({ code: 'email_not_verified' })

    const grace = { email: 'grace@example.test', password: 'analytical engine 1843' }
    await client().post('/auth/password/forgot', { email: grace.email })
    const token = mailbox.token(await mailbox.waitFor(grace.email, 'Choose a new password'))
    await client().post('/auth/password/reset', { token, password: grace.password })
    await client().signIn(grace)
  })

  it('are written down, each once, as done by the application', async () => {
    const { auth, audited } = await openAuth()
    const { items } = await auth.users.import([{ email: ada.email }, { email: ada.email }, { email: 'none' }])
    expect(audited()).toEqual([
      {
        event: 'account_created',
        user_id: items[0]?.id,
        actor: '{"kind":"application"}',
        detail: '{"imported":true}',
      },
    ])
  })
})

describe('the report', () => {
  it('tells of each record what became of it, and nothing that stands in it', async () => {
    const { auth, stored } = await openAuth()
    await auth.users.create({ email: 'taken@example.test', password: ada.password })
    const before = stored('taken@example.test')
    const records: unknown[] = [
      { email: ada.email, passwordHash: old },
      { email: 'ADA@EXAMPLE.TEST', passwordHash: old },
      { email: 'taken@example.test', passwordHash: old },
      { email: 'no address' },
      { email: 'a@example.test', passwordHash: 'd0763edaa9d9bd2a9516280e9044d885' },
      { email: 'b@example.test', passwordHash: `$argon2id$v=19$m=1048576,t=1,p=1$${salt}$${'A'.repeat(43)}` },
      { email: 'c@example.test', passwordHash: `hmac-sha384:abcdefgh:${old}` },
      { email: 'd@example.test', password_hash: old },
      { email: 'e@example.test', passwordHash: 12 },
      { email: 'f@example.test', name: 'two\nlines' },
      { email: 'g@example.test', roles: 'ADMIN' },
      { email: 'h@example.test', emailVerified: 'yes' },
      { email: 'i@example.test', createdAt: '2999-01-01' },
      { email: 'j@example.test', createdAt: 1_558_085_400 },
      { email: 'k@example.test', fields: { since: new Date() } },
      { email: 'l@example.test', fields: { text: 'x'.repeat(16_384) } },
      { email: 'm@example.test', disabled: 1 },
      null,
      'ada@example.test',
      [ada.email],
    ]
    const report = await importAnything(auth, records)
    const failed = (index: number, code: string, path?: string) => ({
      index,
      status: 'failed',
      code,
      ...(path && { path }),
    })
    expect(report).toEqual({
      created: 1,
      skipped: 2,
      failed: 17,
      bcryptHashes: 1,
      items: [
        { index: 0, status: 'created', id: expect.any(String) },
        { index: 1, status: 'skipped', code: 'email_taken', id: report.items[0].id },
        { index: 2, status: 'skipped', code: 'email_taken', id: expect.any(String) },
        failed(3, 'invalid_request', 'email'),
        failed(4, 'hash_unsupported', 'passwordHash'),
        failed(5, 'hash_too_costly', 'passwordHash'),
        failed(6, 'hash_pepper_unknown', 'passwordHash'),
        failed(7, 'invalid_request', 'password_hash'),
        failed(8, 'invalid_request', 'passwordHash'),
        failed(9, 'invalid_request', 'name'),
        failed(10, 'invalid_request', 'roles'),
        failed(11, 'invalid_request', 'emailVerified'),
        failed(12, 'invalid_request', 'createdAt'),
        failed(13, 'invalid_request', 'createdAt'),
        failed(14, 'invalid_request', 'fields'),
        failed(15, 'invalid_request', 'fields'),
        failed(16, 'invalid_request', 'disabled'),
        failed(17, 'invalid_request'),
        failed(18, 'invalid_request'),
        failed(19, 'invalid_request'),
      ],
    })
    expect(stored('taken@example.test')).toBe(before)
    expect((await auth.users.list()).items).toHaveLength(2)
    for (const secret of [old, '@', salt]) expect(JSON.stringify(report)).not.toContain(secret)
  })

  it('counts the created accounts with a bcrypt hash, which may be of 72 bytes of a longer password', async () => {
    const { auth, client, stored } = await openAuth()
    const records = [
      { email: ada.email, passwordHash: old, emailVerified: true },
      { email: 'mary@example.test', passwordHash: '$2x$04$unsupported' },
      { email: 'grace@example.test' },
    ]
    expect(await auth.users.import(records)).toMatchObject({ created: 2, failed: 1, bcryptHashes: 1 })
    expect(await auth.users.import(records)).not.toHaveProperty('bcryptHashes')
    await client().signIn(ada)
    const own = { email: 'edsger@example.test', passwordHash: stored(ada.email) }
    expect(own.passwordHash).toMatch(/^hmac-sha384:-:\$2b\$/)
    expect(await auth.users.import([own])).toEqual({ created: 1, skipped: 0, failed: 0, items: [expect.anything()] })
  })

  it('of the same import a second time: all were there, and nothing has changed', async () => {
    const { auth, client, stored } = await openAuth()
    const records = [{ email: ada.email, passwordHash: old, emailVerified: true }, { email: 'grace@example.test' }]
    const first = await auth.users.import(records)
    await client().signIn(ada)
    const upgraded = stored(ada.email)
    const second = await auth.users.import(records)
    expect(second).toMatchObject({ created: 0, skipped: 2, failed: 0 })
    expect(second.items.map(({ id }) => id)).toEqual(first.items.map(({ id }) => id))
    expect(stored(ada.email)).toBe(upgraded)
  })

  it('skips an address that its owner has just left, which can still be taken back', async () => {
    const { auth, client, mailbox } = await openAuth()
    const browser = client()
    await browser.signUp(ada)
    const newEmail = 'grace@example.test'
    await browser.post('/auth/email/change', { newEmail, password: ada.password })
    const token = mailbox.token(await mailbox.waitFor(newEmail))
    expect((await browser.post('/auth/email/confirm', { token })).status).toBe(200)
    const { items } = await auth.users.import([{ email: ada.email, passwordHash: old }])
    expect(items).toEqual([{ index: 0, status: 'skipped', code: 'email_taken' }])
  })

  it('of twenty imports of one account at once: one has created it', async () => {
    const { auth } = await openAuth()
    const reports = await Promise.all(Array.from({ length: 20 }, () => auth.users.import([{ email: ada.email }])))
    expect(reports.filter(({ created }) => created === 1)).toHaveLength(1)
    expect(reports.filter(({ skipped }) => skipped === 1)).toHaveLength(19)
  })
})

describe('the input', () => {
  const accounts = (count: number): ImportedAccount[] =>
    Array.from({ length: count }, (_, index) => ({ email: `user${index}@example.test` }))

  it('may be anything that can be iterated; a record is asked for when the one before is done', async () => {
    const { auth } = await openAuth()
    let asked = 0
    async function* source(): AsyncGenerator<ImportedAccount> {
      for (const account of accounts(3)) {
        expect((await auth.users.list()).items).toHaveLength(asked)
        asked += 1
        yield account
      }
    }
    expect(await auth.users.import(source())).toMatchObject({ created: 3 })
    expect(await auth.users.import(new Set(accounts(4)))).toMatchObject({ created: 1, skipped: 3 })
    expect(await auth.users.import([])).toEqual({ created: 0, skipped: 0, failed: 0, items: [] })
    for (const nothing of [undefined, null, 'ada@example.test', 12, {}]) {
      await expect(importAnything(auth, nothing)).rejects.toMatchObject({ code: 'invalid_request' })
    }
  })

  it('that breaks off stops the import; what came before it is there, and the next import goes on', async () => {
    const { auth } = await openAuth()
    function* breaking(): Generator<ImportedAccount> {
      yield* accounts(2)
      throw new RangeError('line 3 is no JSON')
    }
    await expect(auth.users.import(breaking())).rejects.toThrow('line 3 is no JSON')
    expect(await auth.users.import(accounts(3))).toMatchObject({ created: 1, skipped: 2 })
  })

  it('may be long: everybody else gets their turn meanwhile', async () => {
    const { auth, client } = await openAuth()
    const importing = auth.users.import(accounts(200))
    const statuses: number[] = []
    while (statuses.length < 20) {
      await new Promise((resolve) => setImmediate(resolve))
      statuses.push((await client().get('/auth/me')).status)
    }
    expect((await auth.users.list({ limit: 200 })).items.length).toBeLessThan(200)
    expect(statuses).toEqual(Array.from({ length: 20 }, () => 401))
    expect((await importing).created).toBe(200)
  })

  it('ATK-076 over a store that fails is reported record by record, and run again it is whole', async () => {
    const database = failingDatabase()
    const { auth } = await testAuth({ database: database.dialect })
    database.failAfter(9)
    const report = await auth.users.import(accounts(6))
    expect(report.created).toBeGreaterThan(0)
    expect(report.created + report.failed).toBe(6)
    expect(report.items.at(-1)).toEqual({ index: 5, status: 'failed', code: 'store_unavailable' })
    database.failAfter(Number.POSITIVE_INFINITY)
    const again = await auth.users.import(accounts(6))
    expect(again).toMatchObject({ created: report.failed, skipped: report.created, failed: 0 })
  })
})

describe('documents of codehooks-auth', () => {
  const created = '2024-02-29T12:00:00.000Z'
  const counted = { lastLogin: created, lastFail: created, success: 4, fail: 1 }

  it('come in as they were: active ones sign in, any other is disabled', async () => {
    const { auth, client } = await openAuth()
    const documents: CodehooksAuthUser[] = [
      { _id: '65e0', email: ada.email, active: true, password: old, created, ...counted },
      { _id: '65e1', email: 'grace@example.test', active: false, password: old, created },
      { _id: '65e2', email: 'edsger@example.test', password: old },
    ]
    const { items, created: count } = await auth.users.import(documents)
    expect(count).toBe(3)
    const [first, second, third] = await Promise.all(items.map(({ id = '' }) => auth.users.get(id)))
    expect(first).toMatchObject({ emailVerified: true, disabledAt: null, createdAt: created, roles: [] })
    for (const account of [second, third]) {
      expect(account).toMatchObject({ emailVerified: false, disabledAt: expect.any(String) })
      const answer = await client().post('/auth/login', { email: account?.email, password: ada.password })
      expect(answer.body).toMatchObject({ code: 'account_disabled' })
    }
    await client().signIn(ada)
  })

  it('leave behind what whoever signed up could write into them', async () => {
    const { auth } = await openAuth()
    const { items } = await auth.users.import([
      {
        _id: '65e3',
        email: ada.email,
        active: true,
        username: ada.email,
        signup: 'true',
        otp: '123456',
        role: 'admin',
        roles: ['ADMIN'],
        emailVerified: true,
        passwordHash: old,
        fields: { plan: 'pro' },
        plan: 'pro',
      },
      { _id: '65e4', email: 'octo@example.test', active: true, id: 583231, login: 'octo', name: 'Octo', bio: null },
      { _id: '65e5', email: 'long@example.test', active: true, name: 'x'.repeat(101) },
    ])
    const [first, second, third] = await Promise.all(items.map(({ id = '' }) => auth.users.get(id)))
    expect(first).toMatchObject({ roles: [], name: null })
    for (const name of ['plan', 'otp', 'role', 'signup', 'username']) expect(first).not.toHaveProperty(name)
    expect(second).toMatchObject({ name: 'Octo', id: items[1]?.id })
    expect(third).toMatchObject({ name: null })
  })

  it('of one address in several spellings are one account, and those of nobody are none', async () => {
    const { auth } = await openAuth()
    const { items } = await auth.users.import([
      { _id: '1', email: 'Ada@Example.test', active: true, password: old },
      { _id: '2', email: ada.email, active: true },
      { _id: '3', email: null, active: true, login: 'octo' },
      { _id: '4', email: 'grace@example.test', active: true, password: 'in clear' },
      { _id: '5', email: 'edsger@example.test', active: true, created: 'long ago' },
    ])
    expect(items).toEqual([
      { index: 0, status: 'created', id: expect.any(String) },
      { index: 1, status: 'skipped', code: 'email_taken', id: items[0]?.id },
      { index: 2, status: 'failed', code: 'invalid_request', path: 'email' },
      { index: 3, status: 'failed', code: 'hash_unsupported', path: 'password' },
      { index: 4, status: 'failed', code: 'invalid_request', path: 'created' },
    ])
  })
})

describe('ATK-004 after an import', () => {
  const dear = `$pbkdf2-sha256$i=60000$${salt}$${'A'.repeat(43)}`

  it('ATK-004 the first failed sign-in waits for the slowest kind taken over, in this process and in the next', async () => {
    const shared = sharedSettings()
    const hashing = vi.spyOn(BoundedHashPool.prototype, 'run')
    onTestFinished(() => hashing.mockRestore())
    const schemes = () => hashing.mock.calls.map(([{ scheme }]) => scheme)

    const { auth, client } = await testAuth(shared)
    await auth.users.import([
      { email: ada.email, passwordHash: dear },
      { email: 'grace@example.test', passwordHash: old },
    ])
    expect(schemes()).toEqual([])
    for (const { start } of [{ start: client }, { start: (await testAuth(shared)).client }]) {
      hashing.mockClear()
      const nobody = { email: 'nobody@example.test', password: ada.password }
      expect((await start().post('/auth/login', nobody)).status).toBe(401)
      expect(schemes()).toEqual(['bcrypt', 'pbkdf2', 'bcrypt'])
    }
  })
})
