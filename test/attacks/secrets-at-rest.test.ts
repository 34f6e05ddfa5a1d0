import { createHash, createHmac } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { afterAll, describe, expect, test } from 'vitest'
import { createTestMailbox } from '../../src/testing.js'
import { attackServer } from '../support/attack-server.js'
import { codesOf, keys, live, refusingTransport, type Secrets, secretsIn, withoutCodes } from './life.js'

const mailbox = createTestMailbox()
const refusing = refusingTransport(mailbox.transport)
const server = await attackServer({
  file: true,
  settings: {
    ...keys,
    password: { ...keys.password, cost: 4, checkBreached: false },
    mail: { from: 'a@example.test', transport: refusing.transport },
  },
})
afterAll(() => server.close())

const [{ file = '' } = {}] = server.sql<{ file: string }>('pragma database_list')
const tables = server
  .sql<{ name: string }>("select name from sqlite_master where type = 'table'")
  .map(({ name }) => name)

/** Every byte on the disk: the database, what was deleted from it and not overwritten, and the log of writes. */
function diskBytes(): Buffer {
  const files = [file, `${file}-wal`, `${file}-shm`, `${file}-journal`].filter((path) => existsSync(path))
  return Buffer.concat(files.map((path) => readFileSync(path)))
}

function allRows(): string {
  return JSON.stringify(tables.map((table) => server.sql(`select * from ${table}`)))
}

/** What somebody with the database alone could work out to try a guess: plain hashes, and under keys that lie beside. */
function openHashes(guess: string, keys: readonly string[]): string[] {
  return ['md5', 'sha1', 'sha256', 'sha512'].flatMap((name) => {
    const hashes = [createHash(name).update(guess), ...keys.map((key) => createHmac(name, key).update(guess))]
    return hashes.map((hash) => hash.digest('hex'))
  })
}

/** The hashes that stand in the store, as bytes: spellings differ. */
function storedHashes(): Set<string> {
  const texts = allRows().match(/[\w+/=-]{22,}/g) ?? []
  const spellings = texts.flatMap((text) => [text.toLowerCase(), Buffer.from(text, 'base64url').toString('hex')])
  return new Set(spellings)
}

/** Six digits stand in many numbers by chance: a code is found as a value, or as a hash that anybody could try out. */
function codeTraces(code: string): string[] {
  const stored = storedHashes()
  const ids = server.sql<{ id: string }>('select id from latchkey_one_time_tokens').map(({ id }) => id)
  const guesses = [code, ...ids.flatMap((id) => [`${id}.${code}`, `${id}${code}`, `${id}:${code}`])]
  const asItIs = new RegExp(`(?<![\\w.-])${code}(?![\\w.-])`).test(allRows()) ? [code] : []
  return [...asItIs, ...guesses.flatMap((guess) => openHashes(guess, keysBeside())).filter((hash) => stored.has(hash))]
}

/** Nothing, names of purposes, ids of keys and of the installation. */
function keysBeside(): string[] {
  const installation = server.sql<{ id: string }>('select id from latchkey_installation').map(({ id }) => id)
  const keyIds = allRows().match(/"[\w-]{8}(?=\.)/g) ?? []
  return [
    '',
    'registration',
    'registration-code',
    'otp',
    'otp-code',
    'otp-handle',
    ...installation,
    ...new Set(keyIds.map((id) => id.slice(1))),
  ]
}

const mine: typeof server = { ...server, mailbox, client: (options) => server.client({ mailbox, ...options }) }

describe('ATK-046 secrets at rest', () => {
  test('ATK-046 after every step of every flow the store holds no secret, in no spelling', async () => {
    const secrets: Secrets = new Map()
    const found: string[] = []
    let waiting = 0
    let looks = 0
    await live(mine, secrets, (step) => {
      looks += 1
      waiting = Math.max(waiting, server.sql('select id from latchkey_outbox').length)
      for (const [name, code] of codesOf(secrets)) {
        found.push(...codeTraces(code).map((trace) => `${step}: ${name} as ${trace}`))
      }
      found.push(...secretsIn(diskBytes(), withoutCodes(secrets)).map((name) => `${step}: ${name}`))
    })
    expect(found).toEqual([])
    // It was worth looking: mails lay in the outbox, and secrets of every kind were known.
    expect([looks > 30, waiting > 3, [...secrets.values()].every((secret) => secret.length > 5)]).toEqual([
      true,
      true,
      true,
    ])
    expect(secrets.size).toBeGreaterThan(25)
  }, 180_000)

  test('ATK-046 what stands in the place of a secret is a keyed digest, and not its plain hash', async () => {
    const client = mine.client()
    await client.post('/auth/register', { email: 'carol@example.test', password: 'tangerine Kestrel 41' })
    const mail = await mailbox.waitFor('carol@example.test')
    const token = mailbox.token(mail)
    const [row] = server.sql<{ token_hash: string; handle_hash: string; payload: string; code_hash: string }>(
      'select token_hash, handle_hash, payload, code_hash from latchkey_one_time_tokens where email = ?',
      'carol@example.test',
    )
    for (const value of Object.values(row ?? {})) expect(value).toMatch(/^[\w-]{8}\.[\w-]{43,}$/)
    for (const secret of [token, client.cookies.get('registration') ?? '']) {
      expect(openHashes(secret, keysBeside()).filter((hash) => storedHashes().has(hash))).toEqual([])
    }
    // The password of a registration waits sealed, not even as its hash.
    expect(allRows()).not.toMatch(/carol[^}]*\$2b\$/)
  })

  test('ATK-046 once a mail is sent nothing of it is left in its row', async () => {
    expect(server.sql('select id from latchkey_outbox').length).toBeGreaterThan(0)
    refusing.letGo()
    await server.runtime.clock.advance('2h')
    await expect.poll(() => server.sql('select id from latchkey_outbox').length).toBe(0)
  })

  test('ATK-046 the search finds what is there', () => {
    const secret = 'tangerine Kestrel 41'
    for (const text of ['', 'x', 'xy', 'xyz'].flatMap((before) => [before + secret, `${before}${secret}zz`])) {
      for (const as of ['utf8', 'base64', 'base64url', 'hex', 'utf16le'] as const) {
        const stored = as === 'utf16le' ? Buffer.from(text, as) : Buffer.from(Buffer.from(text).toString(as))
        expect(secretsIn(stored, [['password', secret]])).toEqual(['password'])
      }
    }
    expect(diskBytes().includes('bob@example.test')).toBe(true)
  })
})
