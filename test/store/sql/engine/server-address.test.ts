import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { parseServerUrl } from '../../../../src/store/sql/engine/server-address.js'
import { explainServerError, isCut, Lost, Unreachable } from '../../../../src/store/sql/engine/server-faults.js'
import { temporaryFolder } from '../../../support/databases.js'

const secret = 'postgres://ada:hunter2@db.example/app'

describe('the URL of a server', () => {
  test('gives limits where it says nothing', () => {
    expect(parseServerUrl('postgres', secret)).toEqual({
      place: 'PostgreSQL at db.example:5432',
      url: secret,
      connectionLimit: 10,
      connectTimeoutMs: 3_000,
      statementTimeoutMs: 10_000,
      pooled: false,
      tls: null,
    })
  })

  test('is heard for what is ours, and passed on with the rest', () => {
    const url = 'mysql://ada:hunter2@db.example:3307/app?connection_limit=20&connect_timeout=1&statement_timeout=500'
    expect(parseServerUrl('mysql', `${url}&pgbouncer=true&compress=true`)).toEqual({
      place: 'MySQL at db.example:3307',
      url: 'mysql://ada:hunter2@db.example:3307/app?compress=true',
      connectionLimit: 20,
      connectTimeoutMs: 1_000,
      statementTimeoutMs: 500,
      pooled: true,
      tls: null,
    })
  })

  test.each([
    ['postgres', 'postgres:///app?host=/var/run/postgresql', 'PostgreSQL at /var/run/postgresql'],
    ['mysql', 'mysql://root@localhost/app?socketPath=/run/mysqld/mysqld.sock', 'MySQL at /run/mysqld/mysqld.sock'],
    ['postgres', 'postgres://[::1]:6432/app', 'PostgreSQL at [::1]:6432'],
  ] as const)('of %s may name a socket or an address: %s', (kind, url, place) => {
    expect(parseServerUrl(kind, url).place).toBe(place)
  })

  test.each(['0', '-1', '1.5', 'many', '', '99999999999'])('is refused with connection_limit=%s', (value) => {
    const url = `${secret}?connection_limit=${value}`
    expect(() => parseServerUrl('postgres', url)).toThrow(
      'database: connection_limit in the URL must be a whole number from 1.',
    )
  })
})

describe('TLS', () => {
  const tlsOf = (query: string) => parseServerUrl('mysql', `mysql://db.example/app?${query}`).tls

  test.each([
    'sslmode=require',
    'sslmode=prefer',
    'sslmode=verify-ca',
    'sslmode=verify-full',
    'ssl-mode=REQUIRED',
    'ssl-mode=VERIFY_IDENTITY',
    'ssl=true',
    'ssl=1',
  ])('checks who the server is with %s', (query) => {
    expect(tlsOf(query)).toEqual({ rejectUnauthorized: true })
  })

  test.each(['sslmode=disable', 'ssl-mode=DISABLED', 'ssl=false', ''])('is not used with "%s"', (query) => {
    expect(tlsOf(query)).toBeNull()
  })

  test('checks nothing only where the URL says so', () => {
    expect(tlsOf('sslmode=no-verify')).toEqual({ rejectUnauthorized: false })
  })

  test('with an unknown mode is a fault, not no TLS', () => {
    expect(() => tlsOf('sslmode=verifyfull')).toThrow(/^database: sslmode in the URL must be /)
  })

  test.each(['192.0.2.1', '[2001:db8::1]'])(
    'of MySQL at %s is refused: its driver would take a certificate of localhost',
    (host) => {
      const parse = (kind: 'mysql' | 'postgres', query: string) =>
        parseServerUrl(kind, `${kind}://${host}/app?${query}`)
      expect(() => parse('mysql', 'sslmode=require')).toThrow(
        /^database: with TLS, put the host name of the MySQL server into the URL/,
      )
      expect(parse('mysql', 'sslmode=no-verify').tls).toEqual({ rejectUnauthorized: false })
      expect(parse('postgres', 'sslmode=require').tls).toEqual({ rejectUnauthorized: true })
    },
  )

  test('reads the files that are named, by either spelling, and is on with them', async () => {
    const folder = await temporaryFolder()
    onTestFinished(() => folder.remove())
    const file = join(folder.path, 'ca.pem')
    await writeFile(file, 'the CA')
    expect(tlsOf(`sslrootcert=${file}`)).toEqual({ rejectUnauthorized: true, ca: 'the CA' })
    expect(tlsOf(`ssl-ca=${file}&ssl-cert=${file}&ssl-key=${file}&sslmode=no-verify`)).toEqual({
      rejectUnauthorized: false,
      ca: 'the CA',
      cert: 'the CA',
      key: 'the CA',
    })
    expect(() => tlsOf(`sslkey=${file}.gone`)).toThrow(
      'database: the file that sslkey in the URL names cannot be read. Check its path and rights.',
    )
  })

  test('by libpq’s own rules is left to the driver', () => {
    const url = 'postgres://db.example/app?uselibpqcompat=true&sslmode=require'
    expect(parseServerUrl('postgres', url)).toMatchObject({ url, tls: null })
  })
})

describe('what went wrong with a server', () => {
  const withCode = (code: string, message = 'for user "ada"') => Object.assign(new Error(message), { code })

  test.each([
    ['28P01', 'refuses the user or the password of the URL. Correct them.'],
    ['ER_ACCESS_DENIED_ERROR', 'refuses the user or the password of the URL. Correct them.'],
    ['3D000', 'has no database of that name. Create it, or correct the name in the URL.'],
    ['42501', 'does not grant the user of the URL the rights it needs. docs/deploy/databases.md lists them.'],
    ['53300', 'has no connection left. Raise its limit, or lower connection_limit in the URL.'],
  ])('is told without the user: %s', (code, sentence) => {
    const told = explainServerError(new Unreachable(withCode(code)), 'PostgreSQL at db.example:5432')
    expect(told).toMatchObject({ message: `database: PostgreSQL at db.example:5432 ${sentence}`, code })
    expect(told instanceof Error && told.cause).toBeUndefined()
  })

  test('names the code of what it has no words for, and leaves our own errors alone', () => {
    expect(explainServerError(withCode('XX000'), 'here')).toEqual(
      new Error('database: here answered with an error (XX000). See the log of the server.'),
    )
    expect(explainServerError(new Unreachable(withCode('ECONNREFUSED')), 'here')).toEqual(
      new Error(
        'database: here cannot be reached (ECONNREFUSED). Check that it runs, and the host and port in the URL.',
      ),
    )
    const own = new Error('encryptionKey: gone')
    expect(explainServerError(own, 'here')).toBe(own)
  })

  test('names pgbouncer=true where PgBouncer refuses our time limits, and the parameter where it refuses another', () => {
    const told = (name: string) =>
      explainServerError(new Unreachable(withCode('08P01', `unsupported startup parameter${name}`)), 'here')
    const flag =
      'database: here is a PgBouncer, which refuses the time limits of a session (08P01). Add pgbouncer=true to the URL.'
    expect(told(': statement_timeout')).toMatchObject({ message: flag })
    expect(told(' in options: lock_timeout')).toMatchObject({ message: flag })
    expect(told(': options')).toMatchObject({
      message: expect.stringContaining('refuses options (08P01). Take it out of the URL'),
    })
  })

  test('may pass by waiting, or not', () => {
    for (const code of ['ECONNREFUSED', 'ECONNRESET', '57P03', '53300', 'ER_CON_COUNT_ERROR']) {
      expect(isCut(new Unreachable(withCode(code)))).toBe(true)
    }
    for (const code of ['ETIMEDOUT', '28P01', 'ER_ACCESS_DENIED_ERROR', '3D000', 'ENOTFOUND']) {
      expect(isCut(new Unreachable(withCode(code)))).toBe(false)
    }
    expect(isCut(new Lost(new Error('Connection terminated unexpectedly')))).toBe(true)
    expect(isCut(new Lost(new Error('Query read timeout')))).toBe(false)
    expect(isCut(new Lost(withCode('PROTOCOL_SEQUENCE_TIMEOUT')))).toBe(false)
    expect(isCut(new Error('anything else'))).toBe(false)
  })
})
