import { execFile } from 'node:child_process'
import { scryptSync } from 'node:crypto'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { PGlite } from '@electric-sql/pglite'
import { hash as bcrypt } from 'bcryptjs'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { testAuth } from './support/auth.js'
import { type Authenticator, createAuthenticator } from './support/authenticator.js'
import { passkeyLogin } from './support/passkey-browser.js'
import { codeBelow, codesBelow } from './support/readme.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const moving = join(root, 'docs/operate/moving.md')
const movingFrom = join(root, 'docs/operate/moving-from.md')

const password = 'correct horse battery staple'
const bcryptHash = await bcrypt(password, 4)

/** As better-auth makes it: the salt is its hexadecimal text. */
function betterAuthHash(): string {
  const salt = '00112233445566778899aabbccddeeff'
  const key = scryptSync(password, salt, 64, { N: 16_384, r: 16, p: 1, maxmem: 64 * 1024 * 1024 })
  return `${salt}:${key.toString('hex')}`
}

/** The tables of each system, as far as its query reads them, with a user ada and what the query must leave out. */
const systems = [
  {
    name: 'Auth.js',
    tables: `create table users (id serial, name varchar(255), email varchar(255), "emailVerified" timestamptz, image text);
      insert into users (name, email, "emailVerified") values ('Ada', 'ada@example.com', now()), ('No one', null, null)`,
    account: { email: 'ada@example.com', name: 'Ada', emailVerified: true },
    signsIn: false,
  },
  {
    name: 'better-auth',
    tables: `create table "user" (id text, name text, email text, "emailVerified" boolean, "createdAt" timestamptz);
      create table account ("userId" text, "providerId" text, password text);
      insert into "user" values ('u1', 'Ada', 'ada@example.com', true, '2024-05-06T07:08:09Z');
      insert into account values ('u1', 'github', null), ('u1', 'credential', '${betterAuthHash()}')`,
    account: { email: 'ada@example.com', name: 'Ada', emailVerified: true, createdAt: '2024-05-06T07:08:09.000Z' },
    signsIn: true,
  },
  {
    name: 'Supabase Auth',
    tables: `create schema auth;
      create table auth.users (email varchar(255), encrypted_password varchar(255), email_confirmed_at timestamptz,
        raw_user_meta_data jsonb, created_at timestamptz, banned_until timestamptz, deleted_at timestamptz,
        is_anonymous boolean not null default false);
      insert into auth.users values
        ('ada@example.com', '${bcryptHash}', now(), '{"name":"Ada"}', '2024-05-06T07:08:09Z', null, null, false),
        ('gone@example.com', '', now(), '{}', now(), null, now(), false), (null, '', null, '{}', now(), null, null, true)`,
    account: { email: 'ada@example.com', name: 'Ada', emailVerified: true, createdAt: '2024-05-06T07:08:09.000Z' },
    signsIn: true,
  },
]

describe('the queries of the docs', () => {
  let database: PGlite
  beforeAll(async () => {
    database = await PGlite.create()
  })
  afterAll(() => database.close())

  test.each(systems)(
    'take the users out of $name as records of an import',
    async ({ name, tables, account, signsIn }) => {
      await database.exec(tables)
      const [, query = ''] = /-c '\n([\s\S]*)'/.exec(codeBelow(movingFrom, name, 'sh')) ?? []
      const { rows } = await database.query<{ json_agg: object[] }>(query)
      const records = rows[0]?.json_agg ?? []
      expect(records).toHaveLength(1)
      const { auth, client } = await testAuth()
      expect(await auth.users.import(JSON.parse(JSON.stringify(records)))).toMatchObject({ created: 1, failed: 0 })
      expect(await auth.users.findByEmail('ada@example.com')).toMatchObject(account)
      if (signsIn) await client().signIn({ email: 'ada@example.com', password })
    },
  )
})

/** What both systems keep of a passkey that the authenticator makes for a user of this handle. */
function keptPasskey(device: Authenticator, userHandle: string) {
  const user = { id: Buffer.from(userHandle).toString('base64url'), name: 'ada', displayName: 'Ada' }
  device.register({ challenge: 'AAAA', user, rp: { id: 'localhost', name: 'Old' }, pubKeyCredParams: [] })
  const held = device.passkeys.at(-1)
  if (!held) throw new Error('The authenticator holds no passkey.')
  return { id: held.id, publicKey: held.key.publicKey }
}

describe('the passkeys of the docs', () => {
  const hex = (bytes: Uint8Array) => `'\\x${Buffer.from(bytes).toString('hex')}'`
  const userId = '4d2f1753-0d3b-4b2e-9f57-6b3f0c9d8a11'
  const systems = [
    {
      name: 'better-auth',
      tables: (device: Authenticator) => {
        const { id, publicKey } = keptPasskey(device, 'random, and not kept')
        return `create table passkey (id text, name text, "publicKey" text, "userId" text, "credentialID" text, counter int,
            "deviceType" text, "backedUp" boolean, transports text, "createdAt" timestamptz, aaguid text);
          insert into passkey values ('p1', null, '${publicKey.toString('base64')}', 'u1', '${id}', 0, 'multiDevice',
            true, 'internal,hybrid', '2024-05-06T07:08:09Z', '00000000-0000-0000-0000-000000000000');`
      },
      from: 'FROM "user" u',
    },
    {
      name: 'Supabase Auth',
      tables: (device: Authenticator) => {
        const { id, publicKey } = keptPasskey(device, userId)
        return `alter table auth.users add column id uuid default '${userId}';
          create table auth.webauthn_credentials (id uuid, user_id uuid, credential_id bytea, public_key bytea, aaguid uuid,
            sign_count bigint, transports jsonb, backup_eligible boolean, backed_up boolean, friendly_name text,
            created_at timestamptz, updated_at timestamptz, last_used_at timestamptz);
          insert into auth.webauthn_credentials values (gen_random_uuid(), '${userId}', ${hex(Buffer.from(id, 'base64url'))},
            ${hex(publicKey)}, null, 0, '["internal"]', true, true, '', '2024-05-06T07:08:09Z', now(), null);`
      },
      from: 'FROM auth.users',
    },
  ]

  test.each(systems)('come out of $name and sign in', async ({ name, tables, from }) => {
    const database = await PGlite.create()
    onTestFinished(() => database.close())
    const device = createAuthenticator({ origin: 'http://localhost:3000' })
    await database.exec(systemTables(name))
    await database.exec(tables(device))
    const [, query = ''] = /-c '\n([\s\S]*)'/.exec(codeBelow(movingFrom, name, 'sh')) ?? []
    const withPasskeys = query.replace(from, () => `, ${codeBelow(movingFrom, name, 'sql')} ${from}`)
    const { rows } = await database.query<{ json_agg: object[] }>(withPasskeys)
    const { auth, client } = await testAuth()
    const report = await auth.users.import(JSON.parse(JSON.stringify(rows[0]?.json_agg)))
    expect(report).toMatchObject({ created: 1, failed: 0 })
    const { body } = await passkeyLogin(client(), device)
    expect(body.user.email).toBe('ada@example.com')
    expect(await auth.passkeys.list(report.items[0]?.id ?? '')).toMatchObject([{ name: 'Passkey' }])
  })
})

function systemTables(name: string): string {
  return systems.find((system) => system.name === name)?.tables ?? ''
}

describe('the scripts of the docs', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'latchkey-moving-'))
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
    for (const [name, target] of Object.entries({ latchkey: root, ...packages('bcryptjs', 'better-sqlite3') })) {
      await mkdir(dirname(join(folder, 'node_modules', name)), { recursive: true })
      await symlink(target, join(folder, 'node_modules', name))
    }
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  async function run(name: string, code: string): Promise<string> {
    await writeFile(join(folder, name), code)
    const { stdout } = await promisify(execFile)(process.execPath, ['--no-warnings', name], { cwd: folder })
    return stdout
  }

  const read = async (name: string) => readFile(join(folder, name), 'utf8')

  test('turn the password hashes of Auth0 into records', async () => {
    const lines = [
      { email: 'ada@example.com', email_verified: true, passwordHash: bcryptHash, connection: 'db' },
      { identifiers: [{ type: 'email', value: 'grace@example.com', verified: false }], passwordHash: bcryptHash },
    ]
    await writeFile(join(folder, 'auth0.ndjson'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    await run('auth0.js', codeBelow(movingFrom, 'Auth0', 'js'))
    expect(JSON.parse(await read('users.json'))).toEqual([
      { email: 'ada@example.com', emailVerified: true, passwordHash: bcryptHash },
      { email: 'grace@example.com', emailVerified: false, passwordHash: bcryptHash },
    ])
  })

  test('turn an export of Firebase into records without hashes', async () => {
    const ada = {
      localId: 'a',
      email: 'ada@example.com',
      emailVerified: true,
      passwordHash: 'aGFzaA==',
      salt: 'c2FsdA==',
    }
    const users = [
      { ...ada, displayName: 'Ada', createdAt: '1700000000000', disabled: false },
      { localId: 'b', phoneNumber: '+4712345678', createdAt: '1700000000000' },
    ]
    await writeFile(join(folder, 'firebase.json'), JSON.stringify({ users }))
    await run('firebase.js', codeBelow(movingFrom, 'Firebase', 'js'))
    const createdAt = '2023-11-14T22:13:20.000Z'
    const record = { email: 'ada@example.com', name: 'Ada', emailVerified: true, createdAt, disabled: false }
    expect(JSON.parse(await read('users.json'))).toEqual([record])
    const { auth } = await testAuth()
    expect(await auth.users.import([record])).toMatchObject({ created: 1, failed: 0 })
  })

  test('write the accounts out, and check their passwords elsewhere', async () => {
    const [secretA, secretB] = [1, 2].map((part) => `${part}-q8Zr3vXw7Lk2Np9Td5Hy0Gs4Bf6Jc1Ma`)
    const settings = {
      JWT_ACCESS_TOKEN_SECRET: secretA,
      JWT_REFRESH_TOKEN_SECRET: secretB,
      baseUrl: 'http://localhost:3000',
      database: 'sqlite:./out.db',
    }
    await writeFile(join(folder, 'settings.js'), `export const settings = ${JSON.stringify(settings)}`)
    await run(
      'fill.js',
      `import { createAuth } from 'latchkey'
       import { settings } from './settings.js'
       const auth = createAuth({ ...settings, password: { checkBreached: false } })
       for (let at = 0; at < 201; at += 1) await auth.users.create({ email: 'user' + at + '@example.com' })
       await auth.users.create({ email: 'ada@example.com', password: '${password}', emailVerified: true })
       await auth.close()`,
    )
    const [list = '', check = ''] = codesBelow(moving, 'Move out', 'js')
    await run('list.js', list)
    const accounts = (await read('accounts.jsonl')).trim().split('\n')
    expect(accounts).toHaveLength(202)
    expect(accounts.map((line) => JSON.parse(line))).toContainEqual(
      expect.objectContaining({ email: 'ada@example.com' }),
    )

    await writeFile(join(folder, 'verify.js'), check)
    const [query = ''] = codeBelow(moving, 'Move out', 'sql').split('\n')
    const checked = await run(
      'check.js',
      `import Database from 'better-sqlite3'
       import { verifyLatchkey } from './verify.js'
       const rows = new Database('out.db', { readonly: true }).prepare(${JSON.stringify(query)}).all()
       const { password_hash: stored } = rows.find((row) => row.email === 'ada@example.com')
       console.log(await verifyLatchkey('${password}', stored), await verifyLatchkey('wrong', stored))`,
    )
    expect(checked).toBe('true false\n')
  }, 120_000)
})

function packages(...names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(names.map((name) => [name, join(root, 'node_modules', name)]))
}
