import { hash as bcrypt } from 'bcryptjs'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { createHashPool, type HashPool } from '../../src/passwords/hash-pool.js'
import { createPasswordsOver, type HashingOptions } from '../../src/passwords/hashed-passwords.js'
import { hasArgon2 } from '../support/addons.js'
import { createCountingPool } from './counting-pool.js'

const password = 'correct horse battery staple'
const pepper = 'pepper-one-kept-apart-from-the-database-0001'
const newPepper = 'pepper-two-kept-apart-from-the-database-0002'

/** base64(HMAC-SHA-384) by Python's hmac, argon2id by its reference implementation (argon2-cffi). */
const salt = 'MDEyMzQ1Njc4OWFiY2RlZg'
const today = `hmac-sha384:-:$argon2id$v=19$m=19456,t=2,p=1$${salt}$/GG7I9O5uGxL3HaVL0dgwEGQ9AptC+ar8f0ShkNKnCQ`
const peppered =
  'hmac-sha384:Kzp2YnhX:$argon2id$v=19$m=19456,t=2,p=1$ZmVkY2JhOTg3NjU0MzIxMA$Zo8f1VMzdmVGxZNHWpKwbPW4oVV/6EukECDXQB+w5+0'
const dearer = `hmac-sha384:-:$argon2id$v=19$m=65536,t=3,p=4$${salt}$afSTYk3kXfp7n5wrfPNqvZTOqkJu8FKYRB2YbgYRYik`
const smaller = `hmac-sha384:-:$argon2id$v=19$m=4096,t=3,p=1$${salt}$7B7gqtld0c3KY5tdKbb+zJjjT6aXaM1WV0XaCtcvQQ8`
const hastier = `hmac-sha384:-:$argon2id$v=19$m=65536,t=1,p=1$${salt}$2Q1Sa+ZEa9/KM+RC/0kwJmEkx+c5hY7YLdEyQxmOjws`

const pool = createCountingPool()
const slept: number[] = []

function makePasswords(options: Partial<HashingOptions> = {}, over: HashPool = pool) {
  const sleep = async (milliseconds: number) => void slept.push(milliseconds)
  const defaults = { algorithm: 'argon2id', cost: 4, pepper: [], monotonic: () => 1_000, sleep } as const
  return createPasswordsOver({ ...defaults, ...options }, over)
}

const passwords = makePasswords()
const schemes = () => pool.jobs.map((job) => job.scheme)

beforeEach(() => {
  pool.jobs.length = 0
  slept.length = 0
})
afterAll(() => pool.close())

describe.skipIf(!hasArgon2)('hashes by argon2id', () => {
  test('a hash names scheme, pepper and parameters, and only its own password matches', async () => {
    const stored = await passwords.hash(password)
    expect(stored).toMatch(/^hmac-sha384:-:\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
    expect(await passwords.verify(password, stored)).toEqual({ matches: true, outdated: false })
    expect(await passwords.verify(`${password}!`, stored)).toEqual({ matches: false, outdated: false })
    expect(await passwords.hash(password)).not.toBe(stored)
  })

  test('argon2id gets the same 64 characters as bcrypt would, and a salt of 16 bytes', async () => {
    await passwords.hash('\u0000'.repeat(200))
    const [job] = pool.jobs
    expect(job?.text).toMatch(/^[A-Za-z0-9+/]{64}$/)
    expect(Buffer.from(String(job?.salt), 'base64')).toHaveLength(16)
  })

  test('the scheme stays what it is: stored hashes depend on it', async () => {
    expect(await passwords.verify(password, today)).toEqual({ matches: true, outdated: false })
    expect(await makePasswords({ pepper: [pepper] }).verify(password, peppered)).toEqual({
      matches: true,
      outdated: false,
    })
    expect((await passwords.verify(`${password} `, today)).matches).toBe(false)
    expect((await passwords.verify(password, peppered)).matches).toBe(false)
  })

  test('every character counts, and composed and decomposed letters are one password', async () => {
    const stored = await passwords.hash(`${'é'.repeat(255)}x`)
    expect((await passwords.verify(`${'e\u0301'.repeat(255)}x`, stored)).matches).toBe(true)
    expect((await passwords.verify(`${'é'.repeat(255)}y`, stored)).matches).toBe(false)
    await expect(passwords.hash('é'.repeat(257))).rejects.toMatchObject({ code: 'weak_password' })
  })

  test('the same without threads', async () => {
    const reasons: string[] = []
    const workerFile = new URL('./no-such-worker.js', import.meta.url)
    const here = createHashPool({ workerFile, onFallback: (reason) => reasons.push(reason) })
    const slow = makePasswords({}, here)
    const stored = await slow.hash(password)
    expect((await slow.verify(password, stored)).matches).toBe(true)
    expect((await passwords.verify(password, stored)).matches).toBe(true)
    expect((await slow.verify('wrong', stored)).matches).toBe(false)
    expect(reasons).toEqual(['the worker file is missing'])
    await here.close()
  })

  test('ATK-019 when the queue is full it is busy', async () => {
    const narrow = createHashPool({ threads: 1, maxQueue: 1 })
    const answers = await Promise.allSettled(
      Array.from({ length: 3 }, () => makePasswords({}, narrow).verify(password, null)),
    )
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected'])
    expect(answers.at(-1)).toMatchObject({ reason: { code: 'busy', status: 503 } })
    await narrow.close()
  })
})

describe.skipIf(!hasArgon2)('what is outdated', () => {
  const withArgon2id = (options: Partial<HashingOptions> = {}) => makePasswords(options).hash(password)
  const withBcrypt = () => makePasswords({ algorithm: 'bcrypt' }).hash(password)

  test.each([
    ['bcrypt, then argon2id', withBcrypt, {}, { matches: true, outdated: true }],
    ['argon2id, then bcrypt', withArgon2id, { algorithm: 'bcrypt' }, { matches: true, outdated: true }],
    ['argon2id of today', withArgon2id, {}, { matches: true, outdated: false }],
    ['plain bcrypt', () => bcrypt(password, 4), {}, { matches: true, outdated: true }],
    [
      'an older pepper',
      () => withArgon2id({ pepper: [pepper] }),
      { pepper: [newPepper, pepper] },
      { matches: true, outdated: true },
    ],
    [
      'a pepper that is gone',
      () => withArgon2id({ pepper: [pepper] }),
      { pepper: [newPepper] },
      { matches: false, outdated: false },
    ],
    ['less memory', async () => smaller, {}, { matches: true, outdated: true }],
    ['fewer passes', async () => hastier, {}, { matches: true, outdated: true }],
    ['more of both', async () => dearer, {}, { matches: true, outdated: false }],
  ] as const)('%s', async (_name, stored, options, expected) => {
    expect(await makePasswords(options).verify(password, await stored())).toEqual(expected)
  })
})

describe.skipIf(!hasArgon2)('the floor where schemes are mixed', () => {
  /** The real pool, with the times of a machine on which bcrypt takes 300 ms and everything else 13. */
  const timed: HashPool = {
    run: async (job) => ({ ...(await pool.run(job)), milliseconds: job.scheme === 'bcrypt' ? 300 : 13 }),
    requireRoom: () => pool.requireRoom(),
    queued: () => pool.queued(),
    close: () => pool.close(),
  }

  test('ATK-004 a failed sign-in by argon2id waits as long as one by bcrypt that was met', async () => {
    const mixed = makePasswords({}, timed)
    await mixed.verify(password, await bcrypt('another', 4))
    slept.length = 0
    await mixed.verify(password, null)
    await mixed.verify(password, await mixed.hash('another'))
    await mixed.floor(1_000)
    expect(slept).toEqual([287, 287, 300])
  })

  test('ATK-004 bcrypt that is stored but was not met yet is timed before the first answer, once', async () => {
    const mixed = makePasswords({}, timed)
    mixed.expect({ name: '$2b$05', milliseconds: 1_000 })
    mixed.expect({ name: '$2b$04', milliseconds: 500 })
    await Promise.all([mixed.verify(password, null), mixed.verify('another', null)])
    expect(slept).toEqual([287, 287])
    expect(schemes().filter((scheme) => scheme === 'bcrypt')).toHaveLength(1)
    expect(pool.jobs.find((job) => job.scheme === 'bcrypt')?.salt).toMatch(/^\$2b\$05\$/)
  })

  test.each(['$2b$12', '$argon2id$v=19$m=1,t=1,p=1', 'a scheme of a later release', ''])(
    'a kind that is faster than today’s, or none that we know, changes nothing: %s',
    async (name) => {
      const strict = makePasswords({ algorithm: 'bcrypt', cost: 5 })
      strict.expect({ name, milliseconds: name === '$2b$12' ? 1 : 10_000 })
      expect((await strict.verify(password, null)).matches).toBe(false)
      expect(schemes()).toEqual(['bcrypt', 'bcrypt'])
    },
  )

  test('the kind of new hashes is what they are timed under', () => {
    expect(makePasswords().kind.name).toBe('$argon2id$v=19$m=19456,t=2,p=1')
    expect(makePasswords({ algorithm: 'bcrypt', cost: 12 }).kind.name).toBe('$2b$12')
  })
})
