import { hash as bcrypt } from 'bcryptjs'
import fc from 'fast-check'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { createHashPool, type HashPool } from '../../src/passwords/hash-pool.js'
import {
  createComputeTimes,
  createPasswords,
  createPasswordsOver,
  type HashingOptions,
} from '../../src/passwords/hashed-passwords.js'
import { readVectors } from '../support/vectors.js'
import { costOf, createCountingPool } from './counting-pool.js'

interface BcryptVectors {
  vectors: {
    password_hex: string
    password_utf8?: string
    hash: string
    flags?: string[]
    bcryptjs_3_0_3_agrees?: boolean
  }[]
  stored_hash_values_that_must_compare_false_without_throwing_500: unknown[]
  policy_cases: { id: string; password: unknown; login_with?: string; password_nfc?: string; login_with_nfd?: string }[]
}

const vectors = readVectors<BcryptVectors>('bcrypt')
const password = 'correct horse battery staple'
const pepper = 'pepper-one-kept-apart-from-the-database-0001'
const newPepper = 'pepper-two-kept-apart-from-the-database-0002'

const pool = createCountingPool()
const slept: number[] = []
let nowMs = 1_000

const defaults = { algorithm: 'bcrypt', cost: 4, pepper: [], monotonic: () => nowMs } as const

function makePasswords(options: Partial<HashingOptions> = {}) {
  const sleep = async (milliseconds: number) => void slept.push(milliseconds)
  return createPasswordsOver({ ...defaults, sleep, ...options }, pool)
}

const passwords = makePasswords()

beforeEach(() => {
  pool.jobs.length = 0
  slept.length = 0
  nowMs = 1_000
})
afterAll(() => pool.close())

describe('hashes', () => {
  test('a hash names scheme, pepper and cost, and only its own password matches', async () => {
    const stored = await passwords.hash(password)
    expect(stored).toMatch(/^hmac-sha384:-:\$2b\$04\$[./A-Za-z0-9]{53}$/)
    expect(await passwords.verify(password, stored)).toEqual({ matches: true, outdated: false })
    expect(await passwords.verify(`${password}!`, stored)).toEqual({ matches: false, outdated: false })
    expect(await passwords.hash(password)).not.toBe(stored)
  })

  test('bcrypt gets 64 characters of base64, whatever the password', async () => {
    for (const text of ['x', 'a'.repeat(256), '\u0000\u0000', '👩‍👩‍👧‍👦'.repeat(20)]) await passwords.hash(text)
    expect(pool.jobs.map((job) => /^[A-Za-z0-9+/]{64}$/.test(job.text))).toEqual([true, true, true, true])
  })

  test('the scheme stays what it is: stored hashes depend on it', async () => {
    // base64(HMAC-SHA-384) and bcrypt computed with Python's hmac and libxcrypt's crypt(3).
    expect(
      await passwords.verify(password, 'hmac-sha384:-:$2b$04$abcdefghijklmnopqrstuuhFpDC.Ycuyg9MVZnf7hnxdzdFmXOfLC'),
    ).toEqual({ matches: true, outdated: false })
    const peppered = makePasswords({ pepper: [pepper] })
    expect(
      await peppered.verify(
        password,
        'hmac-sha384:Kzp2YnhX:$2b$04$abcdefghijklmnopqrstuueqTmAEtqa59EcWA9HUyrotxjoCJc1Zu',
      ),
    ).toEqual({ matches: true, outdated: false })
  })

  test('every password up to 256 characters counts to its last character', async () => {
    const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 255 })
    await fc.assert(
      fc.asyncProperty(text, async (start) => {
        fc.pre(start.normalize('NFC').length < 250)
        const stored = await passwords.hash(`${start}x`)
        expect((await passwords.verify(`${start}x`, stored)).matches).toBe(true)
        expect((await passwords.verify(`${start}y`, stored)).matches).toBe(false)
      }),
      { numRuns: 25 },
    )
  })

  test('256 characters are counted after normalisation, and one more is refused by name', async () => {
    const longest = 'e\u0301'.repeat(256) // 512 code points as typed, 256 as é
    const stored = await passwords.hash(longest)
    expect((await passwords.verify('é'.repeat(256), stored)).matches).toBe(true)
    await expect(passwords.hash(`${longest}x`)).rejects.toMatchObject({
      code: 'weak_password',
      details: { reasons: ['too_long'] },
    })
    expect((await passwords.verify(`${longest}x`, stored)).matches).toBe(false)
  })
})

describe('policy cases of the bcrypt vectors', () => {
  const cases = new Map(vectors.policy_cases.map((policyCase) => [policyCase.id, policyCase]))

  function textOf(id: string): string {
    const text = cases.get(id)?.password
    if (typeof text !== 'string') throw new Error(`${id} has no password`)
    return text
  }

  test.each(['P1', 'P2', 'P4', 'P6'])('%s is hashed whole and verifies', async (id) => {
    const stored = await passwords.hash(textOf(id))
    expect((await passwords.verify(textOf(id), stored)).matches).toBe(true)
    expect((await passwords.verify(textOf(id).slice(0, -1), stored)).matches).toBe(false)
    expect((await passwords.verify(`${textOf(id)}a`, stored)).matches).toBe(false)
  })

  test.each(['P3', 'P7', 'P8', 'P9', 'P10'])('%s: what is only nearly the password fails', async (id) => {
    const stored = await passwords.hash(textOf(id))
    expect((await passwords.verify(textOf(id), stored)).matches).toBe(true)
    expect((await passwords.verify(cases.get(id)?.login_with ?? '', stored)).matches).toBe(false)
  })

  test('P11: composed and decomposed letters are one password, in both directions', async () => {
    const { password_nfc: nfc = '', login_with_nfd: nfd = '' } = cases.get('P11') ?? {}
    expect(nfd).not.toBe(nfc)
    expect((await passwords.verify(nfd, await passwords.hash(nfc))).matches).toBe(true)
    expect((await passwords.verify(nfc, await passwords.hash(nfd))).matches).toBe(true)
  })

  test('P13: a megabyte is refused without hashing, and compared like any wrong password', async () => {
    await expect(passwords.hash('a'.repeat(1_048_576))).rejects.toMatchObject({ code: 'weak_password' })
    expect(pool.jobs).toEqual([])
    expect((await passwords.verify('a'.repeat(1_048_576), await passwords.hash('a'))).matches).toBe(false)
    expect(Math.max(...pool.jobs.map((job) => job.text.length))).toBeLessThanOrEqual(64)
  })

  test('P14, P15: a lone surrogate is no text, and never matches another', async () => {
    await expect(passwords.hash(textOf('P14'))).rejects.toMatchObject({ code: 'invalid_request' })
    const replaced = await passwords.hash('\ufffdlonely-surrogate')
    expect((await passwords.verify(textOf('P15'), replaced)).matches).toBe(false)
    expect((await passwords.verify(cases.get('P15')?.login_with ?? '', replaced)).matches).toBe(false)
  })
})

describe('imported bcrypt hashes', () => {
  const readable = vectors.vectors.filter((vector) => vector.password_utf8 !== undefined)

  test.each(readable.filter((vector) => vector.bcryptjs_3_0_3_agrees))(
    '$hash verifies and is outdated, unless it has cut the password',
    async (vector) => {
      const text = vector.password_utf8 ?? ''
      const outdated = Buffer.byteLength(text) <= 72
      expect(await passwords.verify(text, vector.hash)).toEqual({ matches: true, outdated })
      expect((await passwords.verify(`!${text}`, vector.hash)).matches).toBe(false)
    },
  )

  test('a hash made with the length bug of old $2a$ implementations matches nothing', async () => {
    const wrapped = vectors.vectors.filter((vector) => vector.flags?.includes('wraparound'))
    expect(wrapped).toHaveLength(1)
    for (const { password_hex: hex, hash } of wrapped) {
      expect((await passwords.verify(Buffer.from(hex, 'hex').toString(), hash)).matches).toBe(false)
    }
  })

  test('bcrypt cuts an imported password at 72 bytes, ours is whole after the upgrade', async () => {
    const imported = await bcrypt('a'.repeat(80), 4)
    expect((await passwords.verify('a'.repeat(72), imported)).matches).toBe(true)
    expect((await passwords.verify('a'.repeat(72), await passwords.hash('a'.repeat(80)))).matches).toBe(false)
  })

  test('an imported hash is compared with the password as it came, not with its normal form', async () => {
    const imported = await bcrypt('Ame\u0301lie-secret', 4)
    expect((await passwords.verify('Ame\u0301lie-secret', imported)).matches).toBe(true)
    expect((await passwords.verify('Am\u00e9lie-secret', imported)).matches).toBe(false)
  })

  test('an imported hash whose cost would hold a thread for minutes is no hash', async () => {
    const [imported = ''] = readable.map((vector) => vector.hash)
    await passwords.verify(password, null)
    pool.jobs.length = 0
    expect((await passwords.verify(password, imported.replace('$04$', '$31$'))).matches).toBe(false)
    expect(pool.jobs.map(costOf)).toEqual([4])
  })
})

describe('what is outdated', () => {
  const plain = (cost: number) => bcrypt(password, cost)
  const own = (options: Partial<HashingOptions>) => makePasswords(options).hash(password)

  test.each([
    ['the same scheme and cost', () => own({ cost: 5 }), {}, { matches: true, outdated: false }],
    ['a lower cost', () => own({ cost: 4 }), {}, { matches: true, outdated: true }],
    ['a higher cost', () => own({ cost: 6 }), {}, { matches: true, outdated: false }],
    ['plain bcrypt of the same cost', () => plain(5), {}, { matches: true, outdated: true }],
    ['plain bcrypt of a higher cost', () => plain(6), {}, { matches: true, outdated: true }],
    ['no pepper, then one', () => own({ cost: 5 }), { pepper: [pepper] }, { matches: true, outdated: true }],
    [
      'the newest pepper',
      () => own({ cost: 5, pepper: [pepper] }),
      { pepper: [pepper] },
      { matches: true, outdated: false },
    ],
    [
      'an older pepper',
      () => own({ cost: 5, pepper: [pepper] }),
      { pepper: [newPepper, pepper] },
      { matches: true, outdated: true },
    ],
    [
      'a pepper that is gone',
      () => own({ cost: 5, pepper: [pepper] }),
      { pepper: [newPepper] },
      { matches: false, outdated: false },
    ],
    ['a pepper, then none', () => own({ cost: 5, pepper: [pepper] }), {}, { matches: false, outdated: false }],
  ])('%s', async (_name, stored, options, expected) => {
    expect(await makePasswords({ cost: 5, ...options }).verify(password, await stored())).toEqual(expected)
  })

  test('a wrong password is never called outdated', async () => {
    expect(await passwords.verify('wrong', await plain(4))).toEqual({ matches: false, outdated: false })
  })

  test('the text names its pepper without giving it away', async () => {
    const [, id = ''] = (await own({ pepper: [pepper] })).split(':')
    expect(id).toMatch(/^[\w-]{8}$/)
    expect(await own({ pepper: [newPepper] })).not.toContain(id)
    expect(pepper).not.toContain(id)
  })
})

describe('ATK-004 every comparison costs the same', () => {
  const garbage = vectors.stored_hash_values_that_must_compare_false_without_throwing_500

  /** The classes of the attack list as this layer sees them. */
  async function storedClasses(): Promise<[string, string | null][]> {
    return [
      ['unknown user or no password', null],
      ['wrong password', await makePasswords({ cost: 5 }).hash('another password')],
      ['pepper is gone', await makePasswords({ cost: 5, pepper: [newPepper] }).hash(password)],
      ['imported', await bcrypt('another password', 5)],
      ['garbage', 'plaintextpassword'],
    ]
  }

  test('ATK-004 each class makes one bcrypt computation of today’s cost', async () => {
    const strict = makePasswords({ cost: 5 })
    await strict.verify(password, null)
    for (const [name, stored] of await storedClasses()) {
      pool.jobs.length = 0
      expect((await strict.verify(password, stored)).matches, name).toBe(false)
      expect(pool.jobs.map(costOf), name).toEqual([5])
      expect(
        pool.jobs.map((job) => typeof job.salt),
        name,
      ).toEqual(['string'])
    }
  })

  test('ATK-004 the first comparison of a process makes the dummy, whatever class it is of', async () => {
    for (const [name, stored] of await storedClasses()) {
      pool.jobs.length = 0
      await makePasswords({ cost: 5 }).verify(password, stored)
      expect(pool.jobs.map(costOf), name).toEqual([5, 5])
    }
  })

  test('ATK-019 a dummy that found the queue full is made by the next comparison', async () => {
    const narrow = createHashPool({ threads: 1, maxQueue: 0 })
    const strict = createPasswordsOver({ ...defaults, sleep: async () => {} }, narrow)
    const running = narrow.run({ scheme: 'bcrypt', text: 'text', salt: 4 })
    await expect(strict.verify(password, null)).rejects.toMatchObject({ code: 'busy' })
    await running
    expect((await strict.verify(password, null)).matches).toBe(false)
    await narrow.close()
  })

  test('ATK-004 the dummy follows the cost setting and is another one every time', async () => {
    const salts = new Set<unknown>()
    for (const cost of [4, 5, 6]) {
      pool.jobs.length = 0
      await makePasswords({ cost }).verify(password, null)
      expect(pool.jobs.map(costOf)).toEqual([cost, cost])
      salts.add(String(pool.jobs[1]?.salt).slice(7))
    }
    expect(salts.size).toBe(3)
  })

  test.each(garbage.map((stored) => [JSON.stringify(stored), stored]))(
    'ATK-004 %s is no hash and costs what one costs',
    async (json) => {
      await passwords.verify(password, null)
      pool.jobs.length = 0
      expect(await passwords.verify(password, JSON.parse(String(json)))).toEqual({ matches: false, outdated: false })
      expect(pool.jobs.map(costOf)).toEqual([4])
    },
  )

  test.each([73, 257, 2_000, 100_000])(
    'ATK-005 a password of %d bytes costs the same for known and unknown users',
    async (length) => {
      const stored = await passwords.hash('a'.repeat(72))
      await passwords.verify(password, null)
      for (const of of [stored, null, await bcrypt('a'.repeat(72), 4)]) {
        pool.jobs.length = 0
        await passwords.verify(`b${'a'.repeat(length - 1)}`, of)
        expect(pool.jobs.map(costOf)).toEqual([4])
        expect(pool.jobs[0]?.text.length).toBeLessThanOrEqual(256)
      }
    },
  )
})

describe('the floor under failed sign-ins', () => {
  /** The real pool, with the times of a machine that takes 100 ms for each step of the cost. */
  const timed: HashPool = {
    run: async (job) => ({ ...(await pool.run(job)), milliseconds: 100 * costOf(job) }),
    requireRoom: () => pool.requireRoom(),
    queued: () => pool.queued(),
    close: () => pool.close(),
  }
  const sleep = async (milliseconds: number) => void slept.push(milliseconds)
  const makeTimed = (cost: number) => createPasswordsOver({ ...defaults, cost, sleep }, timed)

  test('ATK-004 a mismatch that was cheaper than the slowest lately waits for the difference', async () => {
    const strict = makeTimed(6)
    await strict.verify(password, await bcrypt('another', 4))
    await strict.verify(password, await bcrypt('another', 6))
    expect(slept).toEqual([200])
  })

  test('ATK-004 an unknown user waits as long as one whose stored hash is dearer than today’s', async () => {
    const strict = makeTimed(4)
    await strict.verify(password, await bcrypt('another', 6))
    await strict.verify(password, null)
    expect(slept).toEqual([200])
  })

  test('a right password does not wait', async () => {
    expect((await makeTimed(6).verify(password, await bcrypt(password, 4))).matches).toBe(true)
    expect(slept).toEqual([])
  })

  test('floor waits for what is left of the slowest comparison, and not when that has passed', async () => {
    const strict = makeTimed(5)
    await strict.verify(password, null)
    nowMs = 2_000
    for (const startedAtMs of [2_000, 1_700.5, 1_500, 1_000]) await strict.floor(startedAtMs)
    expect(slept).toEqual([500, 201])
  })

  test('floor does not wait before anything was compared', async () => {
    await makeTimed(4).floor(nowMs)
    expect(slept).toEqual([])
  })

  test('a time that a pause of the machine made is capped, and forgotten after 32 others', async () => {
    const times = createComputeTimes()
    times.note('$2b$12', 60_000)
    expect(times.slowest()).toBe(5_000)
    times.note('$2b$10', 75)
    for (let count = 0; count < 31; count += 1) times.note('$2b$12', 300)
    expect(times.slowest()).toBe(5_000)
    times.note('$2b$12', 300)
    expect(times.slowest()).toBe(300)
  })
})

test('createPasswords makes the pool itself, and close ends it', async () => {
  const own = createPasswords({ cost: 4, algorithm: 'bcrypt', pepper: [], monotonic: () => 0, sleep: async () => {} })
  expect((await own.verify(password, await own.hash(password))).matches).toBe(true)
  await own.close()
  await own.close()
  await expect(own.hash(password)).rejects.toMatchObject({ code: 'busy' })
})
