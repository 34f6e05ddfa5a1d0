import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { inspect } from 'node:util'
import fc from 'fast-check'
import { Cluster, Redis } from 'ioredis'
import { describe, expect, test, vi } from 'vitest'
import type { z } from 'zod'
import { SettingsError } from '../src/errors.js'
import { routes } from '../src/routes/index.js'
import { ownSegments } from '../src/settings/paths.js'
import type { createSettingsSchema } from '../src/settings/schema.js'
import type { Settings } from '../src/settings.js'
import { readSettings, type SettingsInput } from '../src/wiring/settings.js'

const accessSecret = 'K7v2mQ9xT4rW8yB3nF6jH1cZ5pL0sD7gAq2eU9iO4kX'
const refreshSecret = 'Zr8Vd3Qp6Lm1Xc9Bn4Hy7Ts2Kw5Fg0JaEu8Ri3Ot6Yl'
const thirdSecret = 'b5TnW0yGq3XcVh8RkJ2mPzL6dFsA9eUi4oMx7NtQ1wZ'
const secrets = { JWT_ACCESS_TOKEN_SECRET: accessSecret, JWT_REFRESH_TOKEN_SECRET: refreshSecret }
const local = { ...secrets, baseUrl: 'http://localhost:3000' }
const mail = { from: 'App <no-reply@app.example.test>', transport: 'smtp://mail.example.test:587' }
const live = { ...secrets, baseUrl: 'https://app.example.test', mail, database: 'sqlite::memory:' }
const google = {
  CLIENT_ID: 'id',
  CLIENT_SECRET: 'pass',
  REDIRECT_URI: 'https://app.example.test/auth/oauthcallback/google',
}
const github = { ...google, REDIRECT_URI: 'https://app.example.test/auth/oauthcallback/github' }
const further = (name: string) => ({ ...google, REDIRECT_URI: google.REDIRECT_URI.replace('google', name) })
const okta = { ...further('okta'), ISSUER: 'https://id.okta.example.test' }
const { CLIENT_SECRET: _, ...appleClient } = further('apple')
const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
const p8 = p256.export({ type: 'pkcs8', format: 'pem' }).toString()
const otherCurve = generateKeyPairSync('ec', { namedCurve: 'P-384' })
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString()
const apple = { ...appleClient, TEAM_ID: 'ABCDE12345', KEY_ID: 'KEY1234567', PRIVATE_KEY: p8 }

function parse(input: unknown, testing = false): Settings {
  return readSettings(input, { testing })
}

function errorOf(input: unknown, testing = false): SettingsError {
  try {
    parse(input, testing)
  } catch (error) {
    if (error instanceof SettingsError) return error
    throw error
  }
  throw new Error('these settings have no fault')
}

/** The settings that have faults. */
function faulty(input: unknown, testing = false): string[] {
  return errorOf(input, testing).faults.map(({ setting }) => setting)
}

/** Everything that an error may end up as in a log. */
function printed(error: SettingsError): string {
  return [String(error), error.stack, JSON.stringify(error), inspect(error, { depth: 9, showHidden: true })].join('\n')
}

describe('the vectors of weak settings', () => {
  interface Vectors {
    cases: { id: string; settings: Record<string, unknown>; expect: string; why: string }[]
  }
  const vectors: Vectors = JSON.parse(readFileSync(new URL('./vectors/init-settings.json', import.meta.url), 'utf8'))

  /** What we document as normal; all other cases are faults. */
  const accepted: Readonly<Record<string, readonly string[]>> = {
    ok: ['/api'],
    'setting/baseAPIRoutes/whole-site-allowed-but-auth-routes-and-public-pages-must-stay-reachable-documented': ['/'],
    'setting/baseAPIRoutes/trailing-slash-normalised': ['/api'],
    'setting/baseAPIRoutes/case': ['/api'],
    'setting/baseAPIRoutes/type-or-documented-list-': ['/api'],
    'setting/baseAPIRoutes/absent-default-must-be-protected-not-open': ['/api'],
  }
  const namedIn: Readonly<Record<string, string>> = {
    'same-after-trim': 'JWT_REFRESH_TOKEN_SECRET',
    'trailing-newline': 'JWT_ACCESS_TOKEN_SECRET',
  }
  const cases = vectors.cases.map(({ id, settings, why }) => {
    const given = Object.entries({ ...live, ...settings }).filter(([, value]) => value !== '__ABSENT__')
    return { id, why, given: Object.fromEntries(given) }
  })

  test.each(cases.filter(({ id }) => id in accepted))('$id is settings ($why)', ({ id, given }) => {
    expect(parse(given).baseAPIRoutes).toEqual(accepted[id])
  })

  test.each(cases.filter(({ id }) => !(id in accepted)))(
    'ATK-107 $id is a fault of that setting alone ($why)',
    (entry) => {
      const name = namedIn[entry.id] ?? entry.id.replace(/^setting\//, '').split('/')[0]
      const names = faulty(entry.given).map((setting) => setting.split('.')[0])
      expect(new Set(names)).toEqual(new Set([name]))
    },
  )
})

describe('secrets', () => {
  test.each([
    ['31 bytes', randomBytes(32).toString('hex').slice(0, 31)],
    ['a period of sixteen', 'K7v2mQ9xT4rW8yB3'.repeat(3)],
    ['a good half twice', `${accessSecret.slice(0, 24)}${accessSecret.slice(0, 24)}`],
    ['a repeat with a tail', 'abcabcabcabcabcabcabcabcabcabcabcX'],
    ['the alphabet', 'abcdefghijklmnopqrstuvwxyzabcdef'],
    ['the alphabet backwards', 'zyxwvutsrqponmlkjihgfedcba9876543210'],
    ['keyboard rows', 'qwertyuiopasdfghjklzxcvbnm123456'],
    ['keyboard columns', '1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik,9ol.0p;/'],
    ['a keyboard zigzag', '1q2w3e4r5t6y7u8i9o0p1q2w3e4r5t6y'],
    ['pairs that count', '00112233445566778899aabbccddeeff'],
    ['seven characters only', 'abcdefggfeacdbfgacebdfgacbedgfabdgcefa'],
    ['the sample of jwt.io', 'a-string-secret-at-least-256-bits-long'],
    ['the sample of many tutorials', 'this-is-my-super-secret-key-for-jwt-2024'],
    ['a note to oneself', 'REPLACE_ME_WITH_A_LONG_RANDOM_STRING_OF_32_CHARS'],
    ['the comic', 'correct horse battery staple correct horse'],
    ['the key of RFC 7515', 'AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow'],
    ['base64 of a word', Buffer.from('secret'.repeat(8)).toString('base64')],
    ['a Python expression', 'os.environ["JWT_ACCESS_TOKEN_SECRET_OF_THE_APPLICATION"]'],
    ['a Vite expression', 'import.meta.env.VITE_JWT_ACCESS_TOKEN_SECRET_VALUE'],
    ['a template', '{{ .Values.auth.jwt.access_token_secret | quote }}'],
    ['a shell substitution', '$(openssl rand -base64 32 | tr -d newline)'],
    ['a Windows variable', '%JWT_ACCESS_TOKEN_SECRET_OF_APP%'],
    ['a JSON Web Key', '{"kty":"oct","k":"GawgguFyGrWKav7AX4VKUg_Zr8Vd3Qp6Lm1X"}'],
    ['an SSH key', `ssh-ed25519 ${randomBytes(40).toString('base64')}`],
    ['a lone surrogate', `${accessSecret}\ud800`],
    ['a space in front', ` ${thirdSecret}`],
    ['a very long text', randomBytes(4000).toString('base64')],
  ])('ATK-107 %s is refused', (_, secret) => {
    expect(faulty({ ...local, JWT_ACCESS_TOKEN_SECRET: secret })).toEqual(['JWT_ACCESS_TOKEN_SECRET'])
    expect(faulty({ ...local, JWT_REFRESH_TOKEN_SECRET: [refreshSecret, secret] })).toEqual([
      'JWT_REFRESH_TOKEN_SECRET.1',
    ])
    expect(faulty({ ...local, encryptionKey: secret })).toEqual(['encryptionKey'])
    expect(faulty({ ...local, password: { pepper: secret } })).toEqual(['password.pepper'])
  })

  test('what openssl rand -hex 32 and -base64 32 print always passes', () => {
    const bytes = fc.uint8Array({ minLength: 32, maxLength: 32 })
    const random = fc.noShrink(bytes.map(() => randomBytes(32)))
    fc.assert(
      fc.property(random, random, fc.constantFrom('hex', 'base64', 'base64url'), (access, refresh, encoding) => {
        const given = {
          JWT_ACCESS_TOKEN_SECRET: access.toString(encoding),
          JWT_REFRESH_TOKEN_SECRET: refresh.toString(encoding),
        }
        expect(parse({ ...local, ...given }).accessSecrets).toEqual([given.JWT_ACCESS_TOKEN_SECRET])
      }),
      { numRuns: 1500 },
    )
  })

  test('a list keeps its order and encryption falls back to the refresh secrets', () => {
    const rotated = parse({ ...local, JWT_REFRESH_TOKEN_SECRET: [thirdSecret, refreshSecret] })
    expect(rotated.refreshSecrets).toEqual([thirdSecret, refreshSecret])
    expect(rotated.encryptionKeys).toEqual([thirdSecret, refreshSecret])
    expect(parse({ ...local, encryptionKey: thirdSecret }).encryptionKeys).toEqual([thirdSecret])
    expect(parse({ ...local, JWT_ACCESS_TOKEN_SECRET: [accessSecret, accessSecret] }).accessSecrets).toEqual([
      accessSecret,
    ])
  })

  test('ATK-107 the access and the refresh secret share nothing, neither as texts nor as members of lists', () => {
    const shared = {
      ...local,
      JWT_ACCESS_TOKEN_SECRET: [thirdSecret, accessSecret],
      JWT_REFRESH_TOKEN_SECRET: [refreshSecret, thirdSecret],
    }
    expect(faulty(shared)).toEqual(['JWT_REFRESH_TOKEN_SECRET'])
    expect(faulty({ ...local, JWT_REFRESH_TOKEN_SECRET: accessSecret })).toEqual(['JWT_REFRESH_TOKEN_SECRET'])
    expect(faulty({ ...local, JWT_ACCESS_TOKEN_SECRET: [] })).toEqual(['JWT_ACCESS_TOKEN_SECRET'])
  })
})

describe('faults', () => {
  test('all are told at once, each by its dotted name', () => {
    const input = {
      JWT_ACCESS_TOKEN_SECRET: 'short',
      basePath: 'auth',
      baseApiRoutes: '/x',
      google: { ...google, CLIENT_ID: '', CLIENT_SECRT: 'x' },
      limits: { login: { ip: '30', acount: '1/1m' } },
      trustedOrigins: ['https://ok.example.test', '*'],
      cookies: { sameSite: 'none', secure: false },
      password: { cost: 9 },
      accessTokenLifetime: '1h',
      refreshTokenLifetime: '30m',
    }
    expect(new Set(faulty(input))).toEqual(
      new Set([
        'JWT_ACCESS_TOKEN_SECRET',
        'JWT_REFRESH_TOKEN_SECRET',
        'basePath',
        'baseApiRoutes',
        'google.CLIENT_ID',
        'google.CLIENT_SECRT',
        'limits.login.ip',
        'limits.login.acount',
        'trustedOrigins.1',
        'cookies.secure',
        'password.cost',
        'refreshTokenLifetime',
      ]),
    )
    expect(errorOf(input).message.split('\n')).toHaveLength(13)
  })

  test.each([
    [{ ...local, baseApiRoutes: '/x' }, 'did you mean baseAPIRoutes?'],
    [{ ...local, base_url: 'x' }, 'did you mean baseUrl?'],
    [{ ...local, jwt_access_token_secret: 'x' }, 'did you mean JWT_ACCESS_TOKEN_SECRET?'],
    [{ ...local, redirectSucessUrl: '/' }, 'did you mean redirectSuccessUrl?'],
    [{ ...local, google: { ...google, clientId: 'x' } }, 'did you mean CLIENT_ID?'],
    [{ ...local, limits: { logins: {} } }, 'did you mean login?'],
    [{ ...local, cookies: { samesite: 'lax' } }, 'did you mean sameSite?'],
    [{ ...local, hooks: { beforelogin: 1 } }, 'did you mean beforeLogin?'],
    [{ ...local, jwks: { url: 'https://id.example.test/k', audiance: 'x' } }, 'did you mean audience?'],
    [{ ...local, zebra: 1 }, 'is not a setting'],
    [{ ...local, [`${'x'.repeat(1e5)}`]: 1 }, 'is not a setting'],
  ])('a near miss is told the name that was meant: case %#', (input, sentence) => {
    expect(errorOf(input).faults.some(({ message }) => message.endsWith(sentence))).toBe(true)
    expect(errorOf(input).message.length).toBeLessThan(400)
  })

  test('a line break in a name makes no second line', () => {
    const { message } = errorOf({ ...local, 'bad\nLatchkey: all is well': 1 })
    expect(message.split('\n')).toHaveLength(2)
  })

  test.each([[undefined], [null], ['settings'], [1], [[]], [() => ({})]])('%o is no settings object', (input) => {
    expect(faulty(input)).toEqual(['settings'])
  })

  test('a setting with a fault of its own is not blamed for others', () => {
    expect(faulty({ ...live, basePath: 'auth', google })).toEqual(['basePath'])
    expect(faulty({ ...live, basePath: 'auth', baseAPIRoutes: '/auth' })).toEqual(['basePath'])
    const callback = 'https://app.example.test/account/oauthcallback/google'
    expect(faulty({ ...live, basePath: 'account', google: { ...google, REDIRECT_URI: callback } })).toEqual([
      'basePath',
    ])
    expect(faulty({ ...live, baseUrl: 'app.example.test', google })).toEqual(['baseUrl'])
    expect(faulty({ ...secrets, baseUrl: 'http://localhost:3000/#x', google })).toEqual(['baseUrl'])
    expect(faulty({ ...live, trustedOrigins: ['*'], redirectSuccessUrl: 'https://spa.example.test/' })).toEqual([
      'trustedOrigins.0',
    ])
    expect(faulty({ ...live, trustedOrigins: ['*'], cookies: { sameSite: 'none' } })).toEqual(['trustedOrigins.0'])
    expect(faulty({ ...live, mail: { from: 'x' } })).toEqual(['mail.from', 'mail.transport'])
  })
})

describe('a setting that was forgotten', () => {
  test('a missing secret comes with the command that makes one', () => {
    const { faults } = errorOf({ baseUrl: 'http://localhost:3000' })
    const message = 'is required; make one with: openssl rand -base64 32'
    const names = ['JWT_ACCESS_TOKEN_SECRET', 'JWT_REFRESH_TOKEN_SECRET']
    expect(faults).toEqual(names.map((setting) => ({ setting, message })))
  })

  test('the database is required outside development', () => {
    const { faults } = errorOf({ ...live, database: undefined })
    expect(faults).toEqual([{ setting: 'database', message: expect.stringContaining('sqlite:/absolute/path') }])
  })

  test('in development the database is a file beside the application', () => {
    expect(parse(local).database).toEqual({ kind: 'sqlite', file: './latchkey.db' })
  })

  test.each([
    ['localhost:3000', 'http://localhost:3000'],
    ['127.0.0.1:3000', 'http://localhost:3000'],
    ['//localhost:3000', 'http://localhost:3000'],
    ['app.example.test', 'https://app.example.com'],
    ['app.example.test:8443/x', 'https://app.example.com'],
    ['http://192.168.1.20:3000', 'local network'],
    ['http://10.0.0.5', 'local network'],
    ['http://172.20.1.1:8080/app', 'local network'],
    ['http://[fd12::1]:3000', 'local network'],
    ['http://nas.local:3000', 'local network'],
    ['http://nas:3000', 'local network'],
    ['http://0.0.0.0:3000', 'http://localhost:3000'],
    ['http://[::]:3000', 'http://localhost:3000'],
    ['http://app.example.test', 'begin with https://'],
  ])('a baseUrl of %s is told what to write', (baseUrl, sentence) => {
    const { faults } = errorOf({ ...live, baseUrl })
    expect(faults).toEqual([{ setting: 'baseUrl', message: expect.stringContaining(sentence) }])
  })
})

/** Every setting with a value that is right, foreign objects left out. */
const everything: SettingsInput = {
  ...live,
  encryptionKey: [thirdSecret],
  basePath: '/account',
  baseAPIRoutes: ['/api', '/v1'],
  publicRoutes: ['/api/health', '/api/open/*'],
  redirectSuccessUrl: '/home',
  redirectFailUrl: 'https://spa.example.test/login',
  redirectLogoutUrl: '/bye',
  google: { ...google, REDIRECT_URI: 'https://app.example.test/account/oauthcallback/google' },
  github: { ...github, REDIRECT_URI: 'https://app.example.test/account/oauthcallback/github' },
  oauth: {
    okta: {
      ...okta,
      REDIRECT_URI: 'https://app.example.test/account/oauthcallback/okta',
      ISSUER: 'https://id.okta.example.test/',
      SCOPES: ['email'],
      LABEL: 'Company',
      trustEmail: true,
    },
  },
  database: 'postgres://someone:dbpass@db.example.test/app',
  redis: 'rediss://:redispass@cache.example.test:6380',
  templates: './templates',
  labels: { greeting: 'Hello' },
  locale: 'de-AT',
  brand: { name: 'Acme', logoUrl: '/logo.svg', accentColor: '#00aa77' },
  accessTokenLifetime: '5m',
  JWT_ACCESS_TOKEN_SECRET_EXPIRE: '300s',
  refreshTokenLifetime: '2w',
  JWT_REFRESH_TOKEN_SECRET_EXPIRE: '14d',
  sessionLifetime: '60d',
  maxSessions: 5,
  cookies: { sameSite: 'none', domain: 'example.test', secure: true, partitioned: true, suffix: 'one' },
  trustedOrigins: ['https://spa.example.test'],
  trustedProxies: ['10.0.0.0/8', 'unix'],
  registration: { enabled: false, emailVerification: 'optional' },
  password: {
    minLength: 12,
    checkBreached: 'https://range.example.test/r',
    algorithm: 'argon2id',
    cost: 13,
    pepper: 'Wm3ZtQ8vLx5RkY1nBc7JdHs0PfGu4TaEo6Xi9MyKe2N',
  },
  otp: { enabled: false, length: 8, lifetime: '5m', tries: 3, mail: 'link' },
  twoFactor: { issuer: 'Acme Inc', required: ['ADMIN'] },
  passkeys: {
    enabled: true,
    rpId: 'example.test',
    rpName: 'Acme',
    origins: ['https://app.example.test', 'https://example.org'],
    max: 5,
    signUp: true,
    upgrade: false,
  },
  limits: { login: { ip: '60/1m' }, refresh: { ip: '10/1s' } },
  apiTokens: { inUrl: false, refuseBrowsers: false },
  jwks: {
    url: 'https://id.example.test/jwks.json',
    issuer: 'https://id.example.test/',
    audience: ['api'],
    algorithms: ['ES256'],
    exclusive: true,
    allowPrivate: true,
  },
  allowList: ['192.0.2.9/24', '2001:DB8::1'],
  admin: {
    emails: ['Root@App.Example.test', 'root@app.example.test'],
    enabled: false,
    page: '/account/ops',
    recent: '1h',
    twoFactor: true,
    impersonation: { lifetime: '5m', notify: false, exceptRoles: ['OWNER', 'OWNER'] },
  },
  revocation: { staleness: '5s' },
}

describe('values', () => {
  test('defaults are those of the table', () => {
    const { logger, ...rest } = parse(local)
    expect(logger).toEqual({ warn: expect.any(Function), error: expect.any(Function) })
    expect(rest).toEqual({
      accessSecrets: [accessSecret],
      refreshSecrets: [refreshSecret],
      encryptionKeys: [refreshSecret],
      redirectSuccessUrl: '/',
      redirectFailUrl: '/auth/login',
      redirectLogoutUrl: '/',
      baseAPIRoutes: ['/api'],
      publicRoutes: [],
      providers: [],
      basePath: '/auth',
      origin: 'http://localhost:3000',
      urlPath: '',
      ownOrigins: ['http://localhost:3000', 'http://127.0.0.1:3000', 'http://[::1]:3000'],
      development: true,
      database: { kind: 'sqlite', file: './latchkey.db' },
      redis: null,
      mail: null,
      templates: null,
      labels: {},
      locale: 'en',
      brand: { name: 'localhost', logoUrl: null, accentColor: null },
      accessTokenSeconds: 900,
      refreshTokenSeconds: 30 * 86_400,
      sessionSeconds: 90 * 86_400,
      maxSessions: 50,
      cookies: { sameSite: 'lax', domain: null, secure: false, partitioned: false, suffix: '' },
      trustedOrigins: [],
      trustedProxies: { kind: 'none' },
      registration: { enabled: true, emailVerification: 'required', fields: null, inputs: [] },
      password: {
        minLength: 10,
        checkBreached: 'https://api.pwnedpasswords.com/range/',
        algorithm: 'bcrypt',
        cost: 12,
        pepper: [],
      },
      otp: { enabled: true, length: 6, lifetimeSeconds: 600, tries: 5, mail: 'both' },
      twoFactor: { issuer: 'localhost', required: false },
      passkeys: {
        enabled: true,
        offAtAddress: false,
        rpId: 'localhost',
        rpName: 'localhost',
        origins: ['http://localhost:3000'],
        max: 20,
        signUp: false,
        upgrade: true,
      },
      limits: {
        login: { ip: { count: 30, windowSeconds: 60 }, account: { count: 10, windowSeconds: 900 } },
        mail: { ip: { count: 10, windowSeconds: 60 }, account: { count: 3, windowSeconds: 900 } },
        guess: { ip: { count: 30, windowSeconds: 60 }, account: { count: 20, windowSeconds: 3600 } },
        refresh: { ip: { count: 120, windowSeconds: 60 }, account: null },
        apiToken: { ip: { count: 30, windowSeconds: 60 }, account: null },
        adminToken: { ip: { count: 30, windowSeconds: 60 }, account: null },
        admin: { ip: { count: 600, windowSeconds: 60 }, account: { count: 600, windowSeconds: 60 } },
        other: { ip: { count: 300, windowSeconds: 60 }, account: null },
        notice: { account: { count: 3, windowSeconds: 3600 } },
      },
      apiTokens: { inUrl: true, refuseBrowsers: true },
      jwks: null,
      allowList: [],
      authenticate: null,
      hooks: {},
      admin: {
        emails: [],
        enabled: false,
        page: '/auth/admin',
        recentSeconds: 600,
        twoFactor: false,
        impersonation: null,
      },
      revocation: { stalenessSeconds: 10 },
    })
  })

  test('administration is on where addresses are given, and asks for a second factor outside development', () => {
    const given = { admin: { emails: ['root@example.test'], impersonation: {} } }
    expect(parse({ ...local, ...given }).admin).toMatchObject({ enabled: true, twoFactor: false })
    expect(parse({ ...live, ...given }).admin).toEqual({
      emails: ['root@example.test'],
      enabled: true,
      page: '/auth/admin',
      recentSeconds: 600,
      twoFactor: true,
      impersonation: { lifetimeSeconds: 1800, notify: true, exceptRoles: [] },
    })
    expect(parse({ ...live, admin: { page: false, enabled: true } }).admin).toMatchObject({ enabled: true, page: null })
  })

  test('every setting is read', () => {
    const { logger, ...rest } = parse(everything)
    expect(rest).toEqual({
      accessSecrets: [accessSecret],
      refreshSecrets: [refreshSecret],
      encryptionKeys: [thirdSecret],
      redirectSuccessUrl: '/home',
      redirectFailUrl: 'https://spa.example.test/login',
      redirectLogoutUrl: '/bye',
      baseAPIRoutes: ['/api', '/v1'],
      publicRoutes: ['/api/health', '/api/open/*'],
      providers: [
        {
          kind: 'google',
          name: 'google',
          clientId: 'id',
          clientSecret: 'pass',
          redirectUri: everything.google?.REDIRECT_URI,
        },
        {
          kind: 'github',
          name: 'github',
          clientId: 'id',
          clientSecret: 'pass',
          redirectUri: everything.github?.REDIRECT_URI,
        },
        {
          kind: 'openid',
          name: 'okta',
          clientId: 'id',
          clientSecret: 'pass',
          redirectUri: 'https://app.example.test/account/oauthcallback/okta',
          trustEmail: true,
          issuer: 'https://id.okta.example.test/',
          scopes: ['openid', 'email'],
          label: 'Company',
        },
      ],
      basePath: '/account',
      origin: 'https://app.example.test',
      urlPath: '',
      ownOrigins: ['https://app.example.test'],
      development: false,
      database: { kind: 'postgres', url: 'postgres://someone:dbpass@db.example.test/app' },
      redis: 'rediss://:redispass@cache.example.test:6380',
      mail: { from: { name: 'App', address: 'no-reply@app.example.test' }, transport: 'smtp://mail.example.test:587' },
      templates: './templates',
      labels: { greeting: 'Hello' },
      locale: 'de-AT',
      brand: { name: 'Acme', logoUrl: '/logo.svg', accentColor: '#00aa77' },
      accessTokenSeconds: 300,
      refreshTokenSeconds: 14 * 86_400,
      sessionSeconds: 60 * 86_400,
      maxSessions: 5,
      cookies: { sameSite: 'none', domain: 'example.test', secure: true, partitioned: true, suffix: 'one' },
      trustedOrigins: ['https://spa.example.test'],
      trustedProxies: { kind: 'cidrs', cidrs: ['10.0.0.0/8', 'unix'] },
      registration: { enabled: false, emailVerification: 'optional', fields: null, inputs: [] },
      password: {
        minLength: 12,
        checkBreached: 'https://range.example.test/r/',
        algorithm: 'argon2id',
        cost: 13,
        pepper: ['Wm3ZtQ8vLx5RkY1nBc7JdHs0PfGu4TaEo6Xi9MyKe2N'],
      },
      otp: { enabled: false, length: 8, lifetimeSeconds: 300, tries: 3, mail: 'link' },
      twoFactor: { issuer: 'Acme Inc', required: ['ADMIN'] },
      passkeys: {
        enabled: true,
        offAtAddress: false,
        rpId: 'example.test',
        rpName: 'Acme',
        origins: ['https://app.example.test', 'https://example.org'],
        max: 5,
        signUp: true,
        upgrade: false,
      },
      limits: {
        ...parse(local).limits,
        login: { ip: { count: 60, windowSeconds: 60 }, account: { count: 10, windowSeconds: 900 } },
        refresh: { ip: { count: 10, windowSeconds: 1 }, account: null },
      },
      apiTokens: { inUrl: false, refuseBrowsers: false },
      jwks: {
        url: 'https://id.example.test/jwks.json',
        issuer: 'https://id.example.test/',
        audience: ['api'],
        algorithms: ['ES256'],
        exclusive: true,
        allowPrivate: true,
      },
      allowList: ['192.0.2.0/24', '2001:db8::1'],
      authenticate: null,
      hooks: {},
      admin: {
        emails: ['root@app.example.test'],
        enabled: false,
        page: '/account/ops',
        recentSeconds: 3600,
        twoFactor: true,
        impersonation: { lifetimeSeconds: 300, notify: false, exceptRoles: ['OWNER'] },
      },
      revocation: { stalenessSeconds: 5 },
    })
    expect(logger).toBeDefined()
  })

  test('undefined is the same as not given, at every depth', () => {
    const names = Object.keys(everything)
    const nothing = Object.fromEntries(names.map((name) => [name, undefined]))
    const { logger: _, ...expected } = parse(local)
    expect(
      parse({ ...nothing, ...local, cookies: { domain: undefined }, limits: { login: { ip: undefined } } }),
    ).toMatchObject(expected)
  })

  /** A change to settings that are right, and which setting is then at fault; null: still right. */
  const changes: [change: Record<string, unknown>, faultOf: string | null][] = [
    // Where we are.
    [{ baseUrl: undefined }, 'baseUrl'],
    [{ baseUrl: 'http://app.example.test' }, 'baseUrl'],
    [{ baseUrl: 'http://0.0.0.0:3000' }, 'baseUrl'],
    [{ baseUrl: 'https://user:pass@app.example.test' }, 'baseUrl'],
    [{ baseUrl: 'https://app.example.test?x' }, 'baseUrl'],
    [{ baseUrl: 'https://app.example.test#x' }, 'baseUrl'],
    [{ baseUrl: 'https://app.example.test/a//b' }, 'baseUrl'],
    [{ baseUrl: 'https://app.example.test.' }, 'baseUrl'],
    [{ baseUrl: 'ftp://app.example.test' }, 'baseUrl'],
    [{ baseUrl: new URL('https://app.example.test') }, 'baseUrl'],
    [{ baseUrl: 'https://app.example.test/dev/' }, null],
    [{ basePath: '/' }, 'basePath'],
    [{ basePath: '/au%74h' }, 'basePath'],
    [{ basePath: '/auth/../x' }, 'basePath'],
    [{ basePath: '/auth?x' }, 'basePath'],
    [{ basePath: '/:space/auth' }, 'basePath'],
    [{ basePath: '/my/auth/' }, null],
    // Providers.
    [{ google, github }, null],
    [{ google: { ...google, CLIENT_SECRET: 'undefined' } }, 'google.CLIENT_SECRET'],
    [{ google: { ...google, CLIENT_ID: ' ' } }, 'google.CLIENT_ID'],
    [{ google: { CLIENT_ID: 'id', REDIRECT_URI: google.REDIRECT_URI } }, 'google.CLIENT_SECRET'],
    [
      { google: { ...google, REDIRECT_URI: 'https://app.example.test/auth/oauthcallback/github' } },
      'google.REDIRECT_URI',
    ],
    [
      { google: { ...google, REDIRECT_URI: 'https://app.example.test/AUTH/oauthcallback/google' } },
      'google.REDIRECT_URI',
    ],
    [
      { google: { ...google, REDIRECT_URI: 'https://app.example.test/auth/oauthcallback/google/' } },
      'google.REDIRECT_URI',
    ],
    [
      { google: { ...google, REDIRECT_URI: 'https://app.example.test/x/auth/oauthcallback/google' } },
      'google.REDIRECT_URI',
    ],
    [
      { google: { ...google, REDIRECT_URI: 'https://www.example.test/auth/oauthcallback/google' } },
      'google.REDIRECT_URI',
    ],
    [
      { google: { ...google, REDIRECT_URI: 'https://app.example.test:8443/auth/oauthcallback/google' } },
      'google.REDIRECT_URI',
    ],
    [{ google: { ...google, REDIRECT_URI: `${google.REDIRECT_URI}?x` } }, 'google.REDIRECT_URI'],
    [{ google: 'x' }, 'google'],
    [{ google: null }, 'google'],
    [{ google: { ...google, trustEmail: true } }, 'google.trustEmail'],
    [{ oauth: { google } }, 'oauth.google'],
    [{ oauth: { Okta: okta } }, 'oauth.Okta'],
    [{ oauth: 'okta' }, 'oauth'],
    [{ oauth: [] }, 'oauth'],
    [{ oauth: { okta: 'https://id.okta.example.test' } }, 'oauth.okta'],
    [{ oauth: { okta: null } }, 'oauth.okta'],
    [{ oauth: { okta } }, null],
    [{ oauth: { okta: { ...okta, ISSUER: 'http://127.0.0.1:4000' } } }, null],
    [{ oauth: { okta: { ...okta, ISSUER: 'http://id.okta.example.test' } } }, 'oauth.okta.ISSUER'],
    [{ oauth: { okta: { ...okta, ISSUER: 'https://id.okta.example.test?x' } } }, 'oauth.okta.ISSUER'],
    [{ oauth: { okta: further('okta') } }, 'oauth.okta.ISSUER'],
    [{ oauth: { okta: { ...okta, REDIRECT_URI: google.REDIRECT_URI } } }, 'oauth.okta.REDIRECT_URI'],
    [{ oauth: { okta: { ...okta, CLIENT_SECRET: '' } } }, 'oauth.okta.CLIENT_SECRET'],
    [{ oauth: { okta: { ...okta, SCOPES: ['email profile'] } } }, 'oauth.okta.SCOPES.0'],
    [{ oauth: { okta: { ...okta, LABEL: 'x\n' } } }, null],
    [{ oauth: { okta: { ...okta, LABEL: 'a\nb' } } }, 'oauth.okta.LABEL'],
    [{ oauth: { okta: { ...okta, trustEmail: 'yes' } } }, 'oauth.okta.trustEmail'],
    [{ oauth: { okta: { ...okta, trustemail: true } } }, 'oauth.okta.trustemail'],
    [{ oauth: { okta: { ...okta, TENANT: 'common' } } }, 'oauth.okta.TENANT'],
    [{ oauth: { microsoft: { ...further('microsoft'), TENANT: 'organizations' } } }, null],
    [{ oauth: { microsoft: { ...further('microsoft'), TENANT: 'contoso.example' } } }, 'oauth.microsoft.TENANT'],
    [{ oauth: { microsoft: { ...further('microsoft'), ISSUER: okta.ISSUER } } }, 'oauth.microsoft.ISSUER'],
    [{ oauth: { discord: { ...further('discord'), trustEmail: true } } }, null],
    [{ oauth: { gitlab: { ...further('gitlab'), BASE_URL: 'https://git.example.test/lab/' } } }, null],
    [{ oauth: { gitlab: { ...further('gitlab'), BASE_URL: 'http://git.example.test' } } }, 'oauth.gitlab.BASE_URL'],
    [{ oauth: { apple } }, null],
    [{ oauth: { apple: { ...apple, PRIVATE_KEY: p8.replaceAll('\n', '\\n') } } }, null],
    [{ oauth: { apple: { ...apple, CLIENT_SECRET: 'x' } } }, 'oauth.apple.CLIENT_SECRET'],
    [{ oauth: { apple: { ...apple, TEAM_ID: 'x' } } }, 'oauth.apple.TEAM_ID'],
    [{ oauth: { apple: { ...apple, PRIVATE_KEY: 'x' } } }, 'oauth.apple.PRIVATE_KEY'],
    [{ oauth: { apple: { ...apple, PRIVATE_KEY: p8.replace(/[A-Z]/, '') } } }, 'oauth.apple.PRIVATE_KEY'],
    [{ oauth: { apple: { ...apple, PRIVATE_KEY: otherCurve } } }, 'oauth.apple.PRIVATE_KEY'],
    // Paths.
    [{ baseAPIRoutes: [] }, 'baseAPIRoutes'],
    [{ baseAPIRoutes: ['/api', 'v1'] }, 'baseAPIRoutes.1'],
    [{ baseAPIRoutes: '' }, 'baseAPIRoutes'],
    [{ baseAPIRoutes: '/api/*' }, 'baseAPIRoutes'],
    [{ baseAPIRoutes: '//api' }, 'baseAPIRoutes'],
    [{ baseAPIRoutes: '/api?x' }, 'baseAPIRoutes'],
    [{ baseAPIRoutes: '/a%70i' }, 'baseAPIRoutes'],
    [{ baseAPIRoutes: '/api\\x' }, 'baseAPIRoutes'],
    [{ baseAPIRoutes: 7 }, 'baseAPIRoutes'],
    [{ baseAPIRoutes: '/AUTH' }, 'baseAPIRoutes'],
    [{ baseAPIRoutes: '/auth/admin' }, 'baseAPIRoutes'],
    [{ baseAPIRoutes: '/api', basePath: '/api/auth' }, 'baseAPIRoutes'],
    [{ baseAPIRoutes: '/authors' }, null],
    [{ baseAPIRoutes: '/', basePath: '/api/auth' }, null],
    [{ publicRoutes: ['/*'] }, 'publicRoutes.0'],
    [{ publicRoutes: ['/api/*/x'] }, 'publicRoutes.0'],
    [{ publicRoutes: ['/api/x*'] }, 'publicRoutes.0'],
    [{ publicRoutes: ['/api//*'] }, 'publicRoutes.0'],
    [{ publicRoutes: ['/api/:id'] }, 'publicRoutes.0'],
    [{ publicRoutes: ['/ok', '/api/../x'] }, 'publicRoutes.1'],
    [{ publicRoutes: '/api/health' }, 'publicRoutes'],
    [{ publicRoutes: ['/API/*'] }, 'publicRoutes.0'],
    [{ publicRoutes: ['/api/*'], baseAPIRoutes: '/' }, null],
    [{ publicRoutes: ['/', '/health/'], baseAPIRoutes: '/' }, null],
    [{ redirectSuccessUrl: '/\\evil.test' }, 'redirectSuccessUrl'],
    [{ redirectFailUrl: 'https://spa.example.test/login' }, 'redirectFailUrl'],
    [{ redirectLogoutUrl: '' }, 'redirectLogoutUrl'],
    [{ redirectFailUrl: 'https://spa.example.test/login', trustedOrigins: ['https://spa.example.test'] }, null],
    // Stores and mail.
    [{ database: 'sqlite:' }, 'database'],
    [{ database: 'sqlite://x' }, 'database'],
    [{ database: 'sqlite::memory' }, 'database'],
    [{ database: 'sqlite:memory:' }, 'database'],
    [{ database: 'mongodb://x' }, 'database'],
    [{ database: 'postgres:x' }, 'database'],
    [{ database: {} }, 'database'],
    [{ database: null }, 'database'],
    [{ database: 'constructor://x' }, 'database'],
    [{ redis: 'http://x' }, 'redis'],
    [{ redis: 'redis://' }, 'redis'],
    [{ redis: 'redis://:100%@cache' }, 'redis'],
    [{ redis: 'redis://:100%25@cache' }, null],
    [{ redis: { get() {}, set() {} } }, 'redis'],
    [{ mail: undefined }, 'mail'],
    [{ mail: { ...mail, from: 'a@b.test, c@d.test' } }, 'mail.from'],
    [{ mail: { ...mail, from: 'A <a@b.test>\r\nBcc: c@d.test' } }, 'mail.from'],
    [{ mail: { ...mail, from: 'A\r\nBcc: c@d.test <a@b.test>' } }, 'mail.from'],
    [{ mail: { ...mail, from: { address: 'a@b.test', name: 'A', cc: 'c@d.test' } } }, 'mail.from.cc'],
    [{ mail: { ...mail, from: { address: 'a@b.test' } } }, null],
    [{ mail: { ...mail, transport: 'http://mail.example.test' } }, 'mail.transport'],
    [{ mail: { ...mail, transport: 25 } }, 'mail.transport'],
    // Looks.
    [{ templates: '' }, 'templates'],
    [{ labels: { a: 1 } }, 'labels.a'],
    [{ locale: 'not a locale' }, 'locale'],
    [{ brand: { logoUrl: 'javascript:alert(1)' } }, 'brand.logoUrl'],
    [{ brand: { logoUrl: '//evil.test/x.svg' } }, 'brand.logoUrl'],
    [{ brand: { accentColor: 'red;} body{display:none' } }, 'brand.accentColor'],
    [{ brand: { name: 'A\r\nB' } }, 'brand.name'],
    // Lifetimes.
    [{ accessTokenLifetime: '100' }, 'accessTokenLifetime'],
    [{ accessTokenLifetime: 900 }, 'accessTokenLifetime'],
    [{ accessTokenLifetime: '59s' }, 'accessTokenLifetime'],
    [{ accessTokenLifetime: '25h' }, 'accessTokenLifetime'],
    [{ JWT_ACCESS_TOKEN_SECRET_EXPIRE: '59s' }, 'JWT_ACCESS_TOKEN_SECRET_EXPIRE'],
    [{ accessTokenLifetime: '15m', JWT_ACCESS_TOKEN_SECRET_EXPIRE: '16m' }, 'JWT_ACCESS_TOKEN_SECRET_EXPIRE'],
    [{ refreshTokenLifetime: '8d', JWT_REFRESH_TOKEN_SECRET_EXPIRE: '9d' }, 'JWT_REFRESH_TOKEN_SECRET_EXPIRE'],
    [{ refreshTokenLifetime: '15m' }, 'refreshTokenLifetime'],
    [{ refreshTokenLifetime: '30d', sessionLifetime: '29d' }, 'sessionLifetime'],
    [{ maxSessions: 0 }, 'maxSessions'],
    [{ maxSessions: 1.5 }, 'maxSessions'],
    [{ maxSessions: '50' }, 'maxSessions'],
    // Cookies and origins.
    [{ cookies: { sameSite: 'none' } }, 'cookies.sameSite'],
    [{ cookies: { sameSite: 'None' } }, 'cookies.sameSite'],
    [{ cookies: { secure: false } }, 'cookies.secure'],
    [{ cookies: { domain: 'other.test' } }, 'cookies.domain'],
    [{ cookies: { domain: 'pp.example.test' } }, 'cookies.domain'],
    [{ cookies: { domain: 'sub.app.example.test' } }, 'cookies.domain'],
    [{ cookies: { domain: 'test' } }, 'cookies.domain'],
    [{ cookies: { domain: '127.0.0.1' } }, 'cookies.domain'],
    [{ cookies: { domain: 'co.uk' }, baseUrl: 'https://app.example.co.uk' }, 'cookies.domain'],
    [{ cookies: { domain: 'a;b.test' } }, 'cookies.domain'],
    [{ cookies: { domain: '127.0.0.1' }, baseUrl: 'https://127.0.0.1' }, 'cookies.domain'],
    [{ cookies: { domain: '.Example.test' } }, null],
    [{ cookies: { domain: 'app.example.test' } }, null],
    [{ cookies: { suffix: 'a;b' } }, 'cookies.suffix'],
    [{ cookies: { partitioned: 'yes' } }, 'cookies.partitioned'],
    [{ trustedOrigins: ['*'] }, 'trustedOrigins.0'],
    [{ trustedOrigins: ['null'] }, 'trustedOrigins.0'],
    [{ trustedOrigins: ['http://spa.example.test'] }, 'trustedOrigins.0'],
    [{ trustedOrigins: ['https://*.example.test'] }, 'trustedOrigins.0'],
    [{ trustedOrigins: ['https://spa.example.test/x'] }, 'trustedOrigins.0'],
    [{ trustedOrigins: 'https://spa.example.test' }, 'trustedOrigins'],
    [{ trustedOrigins: ['http://localhost:5173'] }, null],
    // Networks.
    [{ trustedProxies: -1 }, 'trustedProxies'],
    [{ trustedProxies: 1.5 }, 'trustedProxies'],
    [{ trustedProxies: true }, 'trustedProxies'],
    [{ trustedProxies: ['loopback'] }, 'trustedProxies.0'],
    [{ trustedProxies: ['10.0.0.0/8', '0.0.0.0/0'] }, 'trustedProxies.1'],
    [{ trustedProxies: ['::ffff:0:0/96'] }, 'trustedProxies.0'],
    [{ trustedProxies: 1, allowList: ['192.0.2.1'] }, 'trustedProxies'],
    [{ trustedProxies: ['10.0.0.1'], allowList: ['192.0.2.1'] }, null],
    [{ trustedProxies: 1 }, null],
    [{ allowList: ['not-an-ip'] }, 'allowList.0'],
    [{ allowList: ['192.0.2.0/33'] }, 'allowList.0'],
    [{ allowList: '192.0.2.1' }, 'allowList'],
    // Accounts.
    [{ registration: { fields: {} } }, 'registration.fields'],
    [{ registration: { fields: { '~standard': { version: 2, validate: () => 0 } } } }, 'registration.fields'],
    [{ registration: { emailVerification: 'off' } }, 'registration.emailVerification'],
    [{ password: { cost: 9 } }, 'password.cost'],
    [{ password: { cost: 16 } }, 'password.cost'],
    [{ password: { cost: 10 } }, null],
    [{ password: { cost: 15 } }, null],
    [{ password: { minLength: 7 } }, 'password.minLength'],
    [{ password: { algorithm: 'md5' } }, 'password.algorithm'],
    [{ password: { checkBreached: 'http://range.example.test' } }, 'password.checkBreached'],
    [{ password: { checkBreached: 1 } }, 'password.checkBreached'],
    [{ password: { checkBreached: false } }, null],
    [{ otp: { length: 5 } }, 'otp.length'],
    [{ otp: { length: 9 } }, 'otp.length'],
    [{ otp: { lifetime: '1h' } }, 'otp.lifetime'],
    [{ otp: { tries: 11 } }, 'otp.tries'],
    [{ otp: { mail: 'Link' } }, 'otp.mail'],
    [{ otp: { mail: ['code', 'link'] } }, 'otp.mail'],
    [{ otp: { mail: 'code' } }, null],
    [{ twoFactor: { issuer: 'A:B' } }, 'twoFactor.issuer'],
    [{ twoFactor: { required: [] } }, 'twoFactor.required'],
    [{ twoFactor: { required: true } }, null],
    [{ passkeys: { rpId: 'example.com' } }, 'passkeys.rpId'],
    [{ passkeys: { rpId: 'https://localhost' } }, 'passkeys.rpId'],
    [{ passkeys: { rpId: 'test' } }, 'passkeys.rpId'],
    [{ passkeys: { rpId: 'co.uk' }, baseUrl: 'https://app.example.co.uk' }, 'passkeys.rpId'],
    [{ passkeys: { rpId: 'github.io' }, baseUrl: 'https://example.github.io' }, 'passkeys.rpId'],
    [{ passkeys: { rpId: 'example.co.uk' }, baseUrl: 'https://app.example.co.uk' }, null],
    [{ passkeys: { rpId: 'example.github.io' }, baseUrl: 'https://example.github.io' }, null],
    [{ passkeys: { origins: 'http://example.com' } }, 'passkeys.origins'],
    [{ passkeys: { origins: 'android:apk-key-hash:short' } }, 'passkeys.origins'],
    [
      { passkeys: { origins: ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => `https://${name}.com`) } },
      'passkeys.origins',
    ],
    [{ passkeys: { max: 0 } }, 'passkeys.max'],
    [{ admin: { emails: ['root'] } }, 'admin.emails.0'],
    [{ admin: { page: 'admin' } }, 'admin.page'],
    [{ admin: { page: '/admin' } }, 'admin.page'],
    [{ admin: { page: '/auth' } }, 'admin.page'],
    [{ admin: { page: '/AUTH/' } }, 'admin.page'],
    [{ admin: { page: '/auth/admin/api' } }, 'admin.page'],
    [{ admin: { page: '/auth/admin/api/pages' } }, 'admin.page'],
    [{ admin: { page: '/auth/account' } }, 'admin.page'],
    [{ admin: { page: '/auth/LOGIN' } }, 'admin.page'],
    [{ admin: { page: '/auth/two-factor/admin' } }, 'admin.page'],
    [{ admin: { page: '/auth/accounts' } }, null],
    [{ admin: { page: '/id/me' }, basePath: '/id' }, 'admin.page'],
    [{ admin: { page: '/auth/ops/root' } }, null],
    [{ admin: { page: true } }, 'admin.page'],
    [{ admin: { page: false } }, null],
    [{ admin: { page: null } }, 'admin.page'],
    [{ admin: { enabled: 'yes' } }, 'admin.enabled'],
    [{ admin: { enabled: true } }, null],
    [{ admin: { recent: '59s' } }, 'admin.recent'],
    [{ admin: { recent: '61m' } }, 'admin.recent'],
    [{ admin: { recent: '1m' } }, null],
    [{ admin: { twoFactor: 1 } }, 'admin.twoFactor'],
    [{ admin: { impersonation: true } }, 'admin.impersonation'],
    [{ admin: { impersonation: {} } }, null],
    [{ admin: { impersonation: { lifetime: '61m' } } }, 'admin.impersonation.lifetime'],
    [{ admin: { impersonation: { notify: 'no' } } }, 'admin.impersonation.notify'],
    [{ admin: { impersonation: { exceptRoles: [''] } } }, 'admin.impersonation.exceptRoles.0'],
    [{ admin: { impersonation: { except: [] } } }, 'admin.impersonation.except'],
    // Limits.
    [{ limits: false }, 'limits'],
    [{ limits: true }, 'limits'],
    [{ limits: null }, 'limits'],
    [{ limits: { login: '30/1m' } }, 'limits.login'],
    [{ limits: { login: { ip: '0/1m' } } }, 'limits.login.ip'],
    [{ limits: { login: { ip: '30/0s' } } }, 'limits.login.ip'],
    [{ limits: { login: { ip: '30/8d' } } }, 'limits.login.ip'],
    [{ limits: { login: { ip: '1000001/1m' } } }, 'limits.login.ip'],
    [{ limits: { login: { ip: 30 } } }, 'limits.login.ip'],
    [{ limits: { refresh: { account: '1/1m' } } }, 'limits.refresh.account'],
    [{ limits: { login: { ip: '1000000/7d' } } }, null],
    // Access.
    [{ jwks: 'http://id.example.test/jwks.json' }, 'jwks'],
    [{ jwks: 'http://localhost:4000/jwks.json' }, 'jwks.url'],
    [{ jwks: { url: 'https://user:pass@id.example.test/k' } }, 'jwks.url'],
    [{ jwks: { url: 'https://id.example.test/k', algorithms: ['RS256', 'HS256'] } }, 'jwks.algorithms.1'],
    [{ jwks: { url: 'https://id.example.test/k', algorithms: 'none' } }, 'jwks.algorithms'],
    [{ jwks: { url: 'https://id.example.test/k', algorithms: [] } }, 'jwks.algorithms'],
    [{ jwks: { issuer: 'x' } }, 'jwks.url'],
    [{ jwks: 'https://www.googleapis.com/oauth2/v3/certs' }, 'jwks.audience'],
    [{ jwks: { url: 'https://www.googleapis.com/oauth2/v3/certs', audience: 'x' } }, null],
    [{ jwks: 'https://id.example.test/jwks.json' }, null],
    [{ apiTokens: { inUrl: 'no' } }, 'apiTokens.inUrl'],
    [{ authenticate: 'x' }, 'authenticate'],
    [{ hooks: { beforeLogin: 'x' } }, 'hooks.beforeLogin'],
    [{ hooks: [] }, 'hooks'],
    [{ revocation: { staleness: '2m' } }, 'revocation.staleness'],
    [{ logger: { warn() {} } }, 'logger'],
    [{ logger: null }, 'logger'],
  ]

  test.each(changes.filter(([, faultOf]) => faultOf !== null))(
    'ATK-107 live settings with %j have one fault: %s',
    (change, faultOf) => {
      expect(faulty({ ...live, ...change })).toEqual([faultOf])
    },
  )

  test.each(changes.filter(([, faultOf]) => faultOf === null))('live settings with %j have none', (change) => {
    expect(() => parse({ ...live, ...change })).not.toThrow()
  })

  test.each([
    ['sqlite::memory:', { kind: 'sqlite', file: ':memory:' }],
    ['sqlite:/var/app.db', { kind: 'sqlite', file: '/var/app.db' }],
    ['sqlite:../app.db', { kind: 'sqlite', file: '../app.db' }],
    ['postgres://db/app', { kind: 'postgres', url: 'postgres://db/app' }],
    ['postgresql:///app?host=/tmp', { kind: 'postgres', url: 'postgresql:///app?host=/tmp' }],
    ['mysql://db/app', { kind: 'mysql', url: 'mysql://db/app' }],
    ['mariadb://db/app', { kind: 'mysql', url: 'mariadb://db/app' }],
  ])('the database %s is %j', (database, expected) => {
    expect(parse({ ...local, database }).database).toEqual(expected)
  })

  test.each([
    ['no-reply@App.example.test', { name: '', address: 'no-reply@App.example.test' }],
    ['App <no-reply@app.example.test>', { name: 'App', address: 'no-reply@app.example.test' }],
    ['"App, Inc." <no-reply@app.example.test>', { name: 'App, Inc.', address: 'no-reply@app.example.test' }],
    [
      { name: 'App', address: 'no-reply@app.example.test' },
      { name: 'App', address: 'no-reply@app.example.test' },
    ],
  ])('mails from %j come from %j', (from, expected) => {
    expect(parse({ ...local, mail: { ...mail, from } }).mail?.from).toEqual(expected)
  })

  test('a further provider needs no more than it must be told, and unknown names are OpenID issuers', () => {
    const oauth = {
      okta,
      microsoft: further('microsoft'),
      gitlab: further('gitlab'),
      discord: further('discord'),
      apple,
    }
    const { providers } = parse({ ...live, oauth })
    expect(providers).toMatchObject([
      { kind: 'openid', scopes: ['openid', 'email', 'profile'], label: null, trustEmail: false },
      { kind: 'microsoft', tenant: 'common', trustEmail: false },
      { kind: 'gitlab', baseUrl: 'https://gitlab.com', trustEmail: false },
      { kind: 'discord', trustEmail: false },
      { kind: 'apple', teamId: 'ABCDE12345', keyId: 'KEY1234567', privateKey: p8, trustEmail: false },
    ])
    expect(providers.map(({ name }) => name)).toEqual(Object.keys(oauth))
    const tenant = '9188040D-6C67-4C5B-B112-36A304B66DAD'
    const changed = {
      microsoft: { ...further('microsoft'), TENANT: tenant },
      gitlab: { ...further('gitlab'), BASE_URL: 'https://git.example.test/lab/' },
    }
    expect(parse({ ...live, oauth: changed }).providers).toMatchObject([
      { tenant: tenant.toLowerCase() },
      { baseUrl: 'https://git.example.test/lab' },
    ])
  })

  test('every fault of every further provider is told at once', () => {
    const oauth = {
      okta: { ...okta, CLIENT_ID: '', ISSUER: 'x' },
      apple: {},
      Bad: okta,
      gitlab: { ...okta, BASE_URL: 7 },
    }
    expect(faulty({ ...live, oauth })).toEqual([
      'oauth.okta.CLIENT_ID',
      'oauth.okta.ISSUER',
      ...['CLIENT_ID', 'REDIRECT_URI', 'TEAM_ID', 'KEY_ID', 'PRIVATE_KEY'].map((name) => `oauth.apple.${name}`),
      'oauth.Bad',
      'oauth.gitlab.BASE_URL',
      'oauth.gitlab.ISSUER',
    ])
  })

  test('a provider says where we are when baseUrl does not, loopback names are one origin, and all must agree', () => {
    const { baseUrl: _, ...nowhere } = live
    expect(parse({ ...nowhere, google, github }).origin).toBe('https://app.example.test')
    expect(
      parse({
        ...nowhere,
        google: { ...google, REDIRECT_URI: 'https://app.example.test/dev/auth/oauthcallback/google' },
      }),
    ).toMatchObject({
      origin: 'https://app.example.test',
      urlPath: '/dev',
      redirectFailUrl: '/dev/auth/login',
    })
    const elsewhere = { ...github, REDIRECT_URI: 'https://www.example.test/auth/oauthcallback/github' }
    expect(faulty({ ...nowhere, google, github: elsewhere })).toEqual(['github.REDIRECT_URI'])
    expect(
      parse({ ...local, google: { ...google, REDIRECT_URI: 'http://127.0.0.1:3000/auth/oauthcallback/google' } })
        .origin,
    ).toBe(local.baseUrl)
    expect(
      faulty({ ...local, google: { ...google, REDIRECT_URI: 'http://127.0.0.1:3001/auth/oauthcallback/google' } }),
    ).toEqual(['google.REDIRECT_URI'])
    expect(faulty({ ...nowhere, google: { ...google, REDIRECT_URI: 'https://app.example.test/callback' } })).toEqual([
      'google.REDIRECT_URI',
    ])
  })

  test.each([
    ['http://localhost:3000', true],
    ['http://127.0.0.1', true],
    ['http://[::1]:8080', true],
    ['https://localhost:3000', false],
    ['https://app.example.test', false],
  ])('with %s development is %s and cookies are secure the other way round', (baseUrl, development) => {
    const settings = parse({ ...live, baseUrl })
    expect(settings.development).toBe(development)
    expect(settings.cookies.secure).toBe(!development)
  })

  test('SameSite none makes cookies secure in development too, and there insecure or secure ones may be asked for', () => {
    const cookies = (given: object) =>
      parse({ ...local, trustedOrigins: ['https://spa.example.test'], cookies: given }).cookies
    expect(cookies({ sameSite: 'none' }).secure).toBe(true)
    expect(cookies({ secure: false }).secure).toBe(false)
    expect(cookies({ secure: true }).secure).toBe(true)
    expect(faulty({ ...local, cookies: { partitioned: true } })).toEqual(['cookies.partitioned'])
  })

  test('of refresh token and session the one that is not given follows the one that is', () => {
    expect(parse({ ...local, sessionLifetime: '7d' })).toMatchObject({
      refreshTokenSeconds: 7 * 86_400,
      sessionSeconds: 7 * 86_400,
    })
    expect(parse({ ...local, refreshTokenLifetime: '120d' })).toMatchObject({ sessionSeconds: 120 * 86_400 })
    expect(
      parse({ ...local, JWT_ACCESS_TOKEN_SECRET_EXPIRE: '5m', JWT_REFRESH_TOKEN_SECRET_EXPIRE: '8d' }),
    ).toMatchObject({
      accessTokenSeconds: 300,
      refreshTokenSeconds: 8 * 86_400,
      sessionSeconds: 90 * 86_400,
    })
  })

  test('only the test kit may switch limits off, hash cheaply and let tokens die within seconds', () => {
    const cheap = { ...live, limits: false, password: { cost: 4 }, accessTokenLifetime: '1s' }
    expect(parse(cheap, true)).toMatchObject({ limits: null, password: { cost: 4 }, accessTokenSeconds: 1 })
    expect(faulty(cheap)).toEqual(['accessTokenLifetime', 'limits', 'password.cost'])
    expect(faulty({ ...live, password: { cost: 3 } }, true)).toEqual(['password.cost'])
  })
})

describe('no value in any message', () => {
  test('ATK-112 a value at fault is never printed, wherever it stands', () => {
    const places = leavesOf(everything)
    expect(places.length).toBeGreaterThan(70)
    const told = places.filter((path) => {
      const canary = `canary ${randomBytes(9).toString('hex')}`
      const input = structuredClone(everything)
      place(input, path, canary)
      try {
        parse(input)
        return false
      } catch (error) {
        expect(error).toBeInstanceOf(SettingsError)
        if (error instanceof SettingsError) expect(printed(error)).not.toContain(canary.slice(7))
        return true
      }
    })
    const untold = places.filter((path) => !told.includes(path)).map((path) => path.join('.'))
    expect(new Set(untold)).toEqual(new Set(freeTexts))
  })

  test('ATK-112 no string of settings with any faults is printed', () => {
    const names = fc.constantFrom(...Object.keys(everything))
    const text = fc.noShrink(fc.constant(0).map(() => `canary${randomBytes(6).toString('hex')}`))
    const value = fc.oneof(
      text,
      fc.array(text),
      fc.dictionary(fc.constantFrom('url', 'ip', 'from', 'domain', 'CLIENT_ID', 'emails'), text),
      fc.anything(),
    )
    fc.assert(
      fc.property(fc.dictionary(names, value), (changes) => {
        try {
          parse({ ...everything, ...changes })
        } catch (error) {
          expect(error).toBeInstanceOf(SettingsError)
          if (error instanceof SettingsError) expect(printed(error)).not.toContain('canary')
        }
      }),
      { numRuns: 400 },
    )
  })

  /** They may be anything. */
  const freeTexts = [
    ...['google.CLIENT_ID', 'google.CLIENT_SECRET', 'github.CLIENT_ID', 'github.CLIENT_SECRET', 'templates'],
    ...['oauth.okta.CLIENT_ID', 'oauth.okta.CLIENT_SECRET', 'oauth.okta.LABEL'],
    ...[
      'labels.greeting',
      'brand.name',
      'twoFactor.issuer',
      'twoFactor.required.0',
      'passkeys.rpName',
      'jwks.issuer',
      'jwks.audience.0',
    ],
    ...['admin.impersonation.exceptRoles.0', 'admin.impersonation.exceptRoles.1'],
  ]

  function leavesOf(value: unknown, path: readonly string[] = []): string[][] {
    if (typeof value !== 'object' || value === null) return [[...path]]
    return Object.entries(value).flatMap(([name, inner]) => leavesOf(inner, [...path, name]))
  }

  function place(target: object, path: readonly string[], value: unknown): void {
    const [name = '', ...rest] = path
    const inner: unknown = Reflect.get(target, name)
    if (rest.length > 0 && typeof inner === 'object' && inner !== null) place(inner, rest, value)
    else Reflect.set(target, name, value)
  }
})

describe('the copy', () => {
  test('is frozen all the way down', () => {
    const open: string[] = []
    const visit = (value: unknown, path: string) => {
      if (typeof value !== 'object' || value === null) return
      if (!Object.isFrozen(value)) open.push(path)
      for (const [name, inner] of Object.entries(value)) visit(inner, `${path}.${name}`)
    }
    visit(parse(everything), 'everything')
    visit(parse(local), 'local')
    expect(open).toEqual([])
  })

  test('shares nothing with another one, nor with what the application wrote', () => {
    const objectsOf = (value: unknown): object[] =>
      typeof value === 'object' && value !== null ? [value, ...Object.values(value).flatMap(objectsOf)] : []
    const seen = new Set([...objectsOf(parse(everything)), ...objectsOf(parse(local)), ...objectsOf(everything)])
    expect(seen.size).toBeGreaterThan(40)
    expect([...objectsOf(parse(everything)), ...objectsOf(parse(local))].filter((value) => seen.has(value))).toEqual([])
  })

  test('leaves what the application wrote as it was, even when it is frozen', () => {
    const input = structuredClone(everything)
    const frozen = freezeDeep(structuredClone(everything))
    parse(input)
    expect(input).toEqual(everything)
    expect(parse(frozen).basePath).toBe('/account')
    const settings = parse(input)
    Reflect.set(input, 'basePath', '/changed')
    input.cookies = { suffix: 'changed' }
    expect(settings).toMatchObject({ basePath: '/account', cookies: { suffix: 'one' } })
  })

  function freezeDeep<Value>(value: Value): Value {
    if (typeof value === 'object' && value !== null) for (const inner of Object.values(value)) freezeDeep(inner)
    return Object.freeze(value)
  }

  test('reads each property once, so that none changes its mind', () => {
    const reads: string[] = []
    const watch = <Target extends object>(target: Target, path: string): Target =>
      new Proxy(target, {
        get(object, name, receiver) {
          if (typeof name === 'string' && Object.hasOwn(object, name) && name !== 'length')
            reads.push(`${path}.${name}`)
          const value: unknown = Reflect.get(object, name, receiver)
          return typeof value === 'object' && value !== null ? watch(value, `${path}.${String(name)}`) : value
        },
      })
    parse(watch(everything, ''))
    expect(reads.length).toBeGreaterThan(70)
    expect(reads.filter((read, index) => reads.indexOf(read) !== index)).toEqual([])
  })

  test('a getter that throws is a fault, without what it threw', () => {
    const input = {
      ...local,
      get redis(): string {
        throw new Error('redis://:redispass@cache')
      },
    }
    expect(faulty(input)).toEqual(['redis'])
    expect(printed(errorOf(input))).not.toContain('redispass')
  })

  test('ATK-110 a polluted prototype sets nothing', () => {
    Reflect.set(Object.prototype, 'redis', 'redis://evil.test')
    Reflect.set(Object.prototype, 'domain', 'app.example.test')
    try {
      expect(parse(live)).toMatchObject({ redis: null, cookies: { domain: null } })
      const own = { ...live, ...JSON.parse('{"__proto__":{"basePath":"/evil"},"labels":{"__proto__":"x"}}') }
      expect(faulty(own)).toEqual(['__proto__'])
    } finally {
      Reflect.deleteProperty(Object.prototype, 'redis')
      Reflect.deleteProperty(Object.prototype, 'domain')
    }
  })

  test('a structure without end is a fault and no endless loop', () => {
    const cookies: Record<string, unknown> = {}
    cookies.cookies = cookies
    expect(faulty({ ...local, cookies })).toEqual(['cookies.cookies'])
  })
})

describe("the application's own objects", () => {
  class Dialect {
    readonly config = { url: 'x' }
    createDriver() {}
    createQueryCompiler() {}
  }

  test('are passed through untouched: the same object, neither copied nor frozen', () => {
    const dialect = new Dialect()
    const transport = { host: 'mail.example.test', auth: { user: 'a', pass: 'b' } }
    const fields = { '~standard': { version: 1 as const, vendor: 'test', validate: (value: unknown) => ({ value }) } }
    const logger = { warn() {}, error() {}, level: 'info' }
    const okta = { createAuthorizationURL() {} }
    const authenticate = () => undefined
    const beforeLogin = () => {}
    const onLoginUser = () => {}
    const settings = parse({
      ...live,
      database: dialect,
      mail: { ...mail, transport },
      registration: { fields },
      logger,
      authenticate,
      hooks: { beforeLogin, onLoginUser },
    })
    expect(settings.database).toEqual({ kind: 'dialect', dialect })
    expect(settings.database.kind === 'dialect' && settings.database.dialect).toBe(dialect)
    expect(settings.mail?.transport).toBe(transport)
    expect(settings.registration.fields).toBe(fields)
    expect(settings.logger).toBe(logger)
    expect(settings.authenticate).toBe(authenticate)
    expect(settings.hooks).toEqual({ beforeLogin, onLoginUser })
    for (const own of [
      dialect,
      dialect.config,
      transport,
      transport.auth,
      fields,
      fields['~standard'],
      logger,
      okta,
      authenticate,
    ]) {
      expect(Object.isFrozen(own)).toBe(false)
    }
  })

  test('an ioredis client of any kind is taken as it is', () => {
    const sentinels = [{ host: 'sentinel.example.test', port: 26_379 }]
    const clients = [
      new Redis({ lazyConnect: true }),
      new Redis({ sentinels, name: 'app', lazyConnect: true }),
      new Cluster([{ host: 'node.example.test', port: 6379 }], { lazyConnect: true }),
    ]
    for (const redis of clients) {
      expect(parse({ ...live, redis }).redis).toBe(redis)
      expect([redis.status, Object.isFrozen(redis)]).toEqual(['wait', false])
    }
  })

  test('a codehooks Datastore is known by its open method, a schema may be a function', () => {
    const datastore = { open: async () => null }
    expect(parse({ ...local, database: datastore }).database).toEqual({ kind: 'datastore', datastore })
    const fields = Object.assign(() => {}, { '~standard': { version: 1, vendor: 'test', validate() {} } })
    expect(parse({ ...local, registration: { fields } }).registration.fields).toBe(fields)
  })

  test('without a logger, warnings and errors go to the console as one line each, errors as their class and code', () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
    const error = vi.spyOn(console, 'error').mockImplementation(() => {})
    try {
      const { logger } = parse(local)
      logger.warn({ event: 'two\nlines', size: 5n }, 'something happened')
      logger.error({ cause: Object.assign(new TypeError('no secrets here'), { code: 'E1' }) }, 'it broke')
      expect(warn.mock.calls).toEqual([['latchkey: something happened {"event":"two\\nlines","size":"5"}']])
      expect(error.mock.calls).toEqual([['latchkey: it broke {"cause":{"name":"TypeError","code":"E1"}}']])
    } finally {
      warn.mockRestore()
      error.mockRestore()
    }
  })
})

describe('the input type', () => {
  test('is what the schema reads, name by name', () => {
    const accepts = (input: SettingsInput): z.input<ReturnType<typeof createSettingsSchema>> => input
    const names = (name: keyof z.input<ReturnType<typeof createSettingsSchema>>): keyof SettingsInput => name
    expect(accepts(everything)).toBe(everything)
    expect(names('baseUrl')).toBe('baseUrl')
  })
})

test('admin.page leaves every path of ours alone', () => {
  const below = routes.filter(({ root }) => !root)
  const paths = below.flatMap(({ path, aliases = [] }) => [path, ...aliases])
  const first = new Set(paths.map((path) => path.split('/')[1]))
  expect([...ownSegments, 'admin'].sort()).toEqual([...first].sort())
})
