import { afterAll, describe, expect, test } from 'vitest'
import { type Answer, attackServer, expectRefusal } from '../support/attack-server.js'
import { readVectors } from '../support/vectors.js'

const server = await attackServer({ file: true })
afterAll(() => server.close())
const password = 'correct horse battery'

interface EmailCase {
  input: string
  valid: boolean
  canonical?: string
  why: string
}
const vectors = readVectors<{
  cases: EmailCase[]
  non_string_inputs_all_400: unknown[]
  slow_inputs: { generator: string }[]
  same_account: [string, string][]
  different_accounts: [string, string][]
}>('email-normalisation')

function post(path: string, body: unknown): Promise<Answer> {
  return server.ask('POST', path, { body })
}

/** Every route that takes an address, with one that would do something if it were read. */
function everyRoute(email: unknown): Promise<Answer>[] {
  return [
    post('/auth/register', { email, password }),
    post('/auth/login', { email, password }),
    post('/auth/verify-email/resend', { email }),
    post('/auth/verify-email', { email, code: '123456', password }),
  ]
}

/** What stands in the store: nothing may be there because of an address that is none. */
function traces(): unknown[] {
  return ['latchkey_users', 'latchkey_one_time_tokens', 'latchkey_outbox', 'latchkey_audit'].map((table) =>
    server.sql(`select count(*) as rows from ${table}`),
  )
}

async function idAt(email: string): Promise<unknown> {
  const { status, body, text } = await post('/auth/login', { email, password })
  expect(status, text).toBe(200)
  return Reflect.get(Object(Reflect.get(Object(body), 'user')), 'id')
}

/** Registers, unless the address has its account already, and confirms with what the mail says. */
async function signUp(email: string, canonical: string): Promise<void> {
  const known = server.sql('select id from latchkey_users where email_canonical = ?', canonical).length
  expect((await post('/auth/register', { email, password })).status).toBe(202)
  const mail = await server.mailbox.waitFor(canonical)
  expect(mail.to).toBe(canonical)
  if (known > 0) return
  expect((await post('/auth/verify-email', { token: server.mailbox.token(mail), password })).status).toBe(200)
}

const valid = vectors.cases.filter((one) => one.valid)
const invalid = vectors.cases.filter((one) => !one.valid)

describe('ATK-045 addresses over HTTP', () => {
  test('ATK-045 the vectors are all there', () => {
    expect([valid.length, invalid.length, vectors.non_string_inputs_all_400.length]).toEqual([22, 50, 7])
  })

  test.each(valid)(
    'ATK-045 $input is the account $canonical, however it is typed',
    async ({ input, canonical = '' }) => {
      await signUp(input, canonical)
      const id = await idAt(canonical)
      expect([await idAt(input), await idAt(` ${input} `), await idAt(canonical.toUpperCase())]).toEqual([id, id, id])
      const rows = server.sql('select id from latchkey_users where email_canonical = ?', canonical)
      expect(rows).toEqual([{ id }])
    },
  )

  test('ATK-045 there are as many accounts as canonical addresses', () => {
    const canonical = server.sql<{ email_canonical: string }>('select email_canonical from latchkey_users')
    expect(canonical.map((row) => row.email_canonical).sort()).toEqual(
      [...new Set(valid.map((one) => one.canonical))].sort(),
    )
  })

  // `Alice@…`, `mıke@…` and the like are tried after the accounts exist that they would be taken for.
  test.each(invalid)('ATK-045 $input is refused everywhere ($why)', async ({ input }) => {
    const before = traces()
    for (const answer of await Promise.all(everyRoute(input))) {
      expectRefusal(answer, 400)
      expect(answer.body).toMatchObject({ code: 'invalid_request', errors: [{ path: 'email' }] })
      expect(answer.headers.getSetCookie()).toEqual([])
    }
    expect(traces()).toEqual(before)
  })

  test.each(vectors.non_string_inputs_all_400.map((input) => ({ input })))(
    'ATK-044 $input is no address, and is no list of addresses',
    async ({ input }) => {
      const before = traces()
      for (const answer of await Promise.all(everyRoute(input))) expectRefusal(answer, 400)
      expect(traces()).toEqual(before)
    },
  )

  test('ATK-044 no mail went anywhere but to the addresses of accounts', async () => {
    const canonical = new Set(valid.map((one) => one.canonical))
    expect(server.mailbox.mails.length).toBeGreaterThan(20)
    expect(server.mailbox.mails.filter(({ to }) => !canonical.has(to))).toEqual([])
    expect(server.sql('select recipient from latchkey_outbox')).toEqual([])
  })

  test.each(vectors.same_account)('ATK-045 %j and %j are one account', async (first, second) => {
    expect(await idAt(first)).toBe(await idAt(second))
  })

  test.each(vectors.different_accounts)('ATK-045 %j and %j are two accounts, or one is none', async (first, second) => {
    await signUp(first, first)
    const ids: unknown[] = []
    for (const email of [first, second]) {
      const answer = await post('/auth/login', { email, password })
      ids.push(answer.status === 200 ? await idAt(email) : null)
      if (answer.status !== 200) expectRefusal(answer, 400, 401)
    }
    expect(ids[0]).not.toEqual(ids[1])
  })
})

describe('ATK-044 slow addresses', () => {
  /** The generators of the vectors in full, which the body limit stops, and as long as a body may be. */
  const slow: Readonly<Record<string, (length: number) => string>> = {
    '"a@" + "a.".repeat(50000) + "!"': (length) => `a@${'a.'.repeat(length / 2)}!`,
    '"(".repeat(50000)+"@x.y"': (length) => `${'('.repeat(length)}@x.y`,
    '"a".repeat(1e6)+"@example.com"': (length) => `${'a'.repeat(length)}@example.com`,
  }

  test.each(vectors.slow_inputs)('ATK-044 $generator is refused by its length', async ({ generator }) => {
    const make = slow[generator]
    if (!make) throw new Error(`no recipe for ${generator}`)
    for (const length of [1_000_000, 60_000, 318, 250]) {
      for (const answer of await Promise.all(everyRoute(make(length)))) expectRefusal(answer, 400, 413)
    }
  })

  test('ATK-044 a thousand of them at once are all refused', async () => {
    const email = `a@${'a.'.repeat(150)}!`
    const answers = await Promise.all(Array.from({ length: 1_000 }, () => post('/auth/login', { email, password })))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([400]))
  })
})
