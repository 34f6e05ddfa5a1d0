import { afterAll, describe, expect, test } from 'vitest'
import { attackServer, expectRefusal } from '../support/attack-server.js'
import { readVectors } from '../support/vectors.js'

const server = await attackServer({ settings: { registration: { emailVerification: 'optional' } } })
afterAll(() => server.close())

interface PolicyCase {
  id: string
  password?: unknown
  password_nfc?: string
  password_generator?: string
  login_with?: string
  login_with_nfd?: string
}
const { policy_cases: cases } = readVectors<{ policy_cases: PolicyCase[] }>('bcrypt')

/** What cannot be chosen at all: product.md 3 and 5. */
const refused = new Map([
  ['P4', 422], // one character over and over, whatever its bytes
  ['P12', 422],
  ['P13', 413],
  ['P14', 400], // not Unicode (RFC 8259 §8.2)
  ['P15', 400],
  ['P18', 400],
])

function chosen({ password, password_nfc, password_generator }: PolicyCase): unknown {
  return password_generator ? 'a'.repeat(1_048_576) : (password_nfc ?? password)
}

/** JSON as an attacker writes it: a lone surrogate goes out as its escape. */
function post(path: string, id: string, password: unknown) {
  return server.ask('POST', path, { body: { email: `${id}@example.test`, password } })
}

describe('ATK-110 passwords over HTTP', () => {
  test('ATK-110 the vectors and their refusals are all there', () => {
    expect(cases.length).toBeGreaterThan(14)
    expect([...refused.keys()].filter((id) => !cases.some((one) => one.id === id))).toEqual([])
  })

  test.each(cases.filter(({ id }) => refused.has(id)))(
    'ATK-110 $id cannot be chosen, and signs nobody in',
    async (one) => {
      const answer = await post('/auth/register', one.id, chosen(one))
      expectRefusal(answer, refused.get(one.id) ?? 0)
      expectRefusal(await post('/auth/login', one.id, one.login_with ?? chosen(one)), 400, 401, 413)
    },
  )

  test.each(cases.filter(({ id }) => !refused.has(id)))('ATK-110 $id is significant to its last byte', async (one) => {
    const password = String(chosen(one))
    expect((await post('/auth/register', one.id, password)).status).toBe(201)
    expect((await post('/auth/login', one.id, password)).status).toBe(200)
    if (one.login_with !== undefined) expectRefusal(await post('/auth/login', one.id, one.login_with), 401)
    // Product.md 5: NFC, so both spellings of one text are one password.
    if (one.login_with_nfd !== undefined) {
      expect(one.login_with_nfd).not.toBe(password)
      expect((await post('/auth/login', one.id, one.login_with_nfd)).status).toBe(200)
    }
    const others = [password.slice(0, -1), `${password}x`, `${password}\0`, `${password} `, password.slice(0, 71)]
    for (const other of others.filter((text) => text !== password)) {
      // 400: what is cut through a character is no Unicode text any more.
      expectRefusal(await post('/auth/login', one.id, other), 400, 401)
    }
  })

  test.each([256, 257, 1_024, 1_025])(
    'ATK-005 a password of %i characters tells nothing about the account',
    async (length) => {
      const password = 'p'.repeat(length)
      const known = await post('/auth/login', 'P10', password)
      const unknown = await post('/auth/login', 'nobody', password)
      expectRefusal(known, length > 1_024 ? 400 : 401)
      expect({ ...Object(known.body), requestId: '' }).toEqual({ ...Object(unknown.body), requestId: '' })
    },
  )
})
