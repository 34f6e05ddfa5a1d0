import { describe, expect, onTestFinished, test } from 'vitest'
import { createAuth } from '../../src/index.js'
import { instruments, spans as spanTable } from '../../src/telemetry/instruments.js'
import { openTelemetry } from '../../src/telemetry/open-telemetry.js'
import { noTelemetry } from '../../src/telemetry/telemetry.js'
import { createTestClient, createTestMailbox, createTestRuntime, testSettings } from '../../src/testing.js'
import { ada, testAuth } from '../support/auth.js'
import { failingDatabase } from '../support/failing-database.js'
import { type Exported, startTelemetry, underHttpSpan } from '../support/telemetry.js'

const unknownToken = { 'x-apikey': '00000000-0000-4000-8000-000000000000' }

/** How often that was measured, by its attributes. */
function sums(found: Exported['measured'], name: string): Record<string, number> {
  const all: Record<string, number> = {}
  for (const one of found.filter((each) => each.name === name)) {
    const key = Object.values(one.attributes).join(' ')
    all[key] = (all[key] ?? 0) + one.value
  }
  return all
}

describe('with an SDK', () => {
  test('what happens is counted: requests, refusals, sign-ins, mails, decisions of the guard', async () => {
    const exported = startTelemetry()
    const { client, mailbox } = await testAuth()
    const browser = client()
    await browser.signUp(ada)
    expect((await browser.get('/api/notes')).status).toBe(200)
    expect((await browser.get('/api/notes')).status).toBe(200)
    expect((await client().get('/api/notes')).status).toBe(401)
    expect((await client({ as: 'server' }).get('/api/notes', { headers: unknownToken })).status).toBe(401)
    await client().post('/auth/login', { ...ada, password: 'not the right one' })
    await client().signIn(ada)
    await browser.refresh()
    await mailbox.waitFor(ada.email)

    const { measured } = exported
    expect(sums(measured, 'latchkey.refusals')).toEqual({ invalid_credentials: 1 })
    expect(sums(measured, 'latchkey.audit.events')).toMatchObject({ 'login success': 2, 'login failure': 1 })
    expect(sums(measured, 'latchkey.mails')).toMatchObject({ 'verify sent': 1 })
    const requests = measured.filter(({ name }) => name === 'latchkey.request.duration')
    expect(requests.map(({ attributes }) => Object.values(attributes).join(' '))).toEqual(
      expect.arrayContaining([
        'POST /auth/register 202',
        'POST /auth/login 401',
        'POST /auth/login 200',
        'POST /auth/refresh 200',
      ]),
    )
    for (const { value } of requests) expect(value).toBeLessThan(60)
    expect(sums(await exported.collect(), 'latchkey.guard.decisions')).toEqual({
      session: 2,
      apiToken: 0,
      jwt: 0,
      hook: 0,
      unauthenticated: 2,
    })
  })

  test('the outbox, the feed and the hash queue are told when somebody collects, a store that fails tells nothing', async () => {
    const exported = startTelemetry()
    const database = failingDatabase()
    const { client, auth, runtime } = await testAuth({
      database: database.dialect,
      mail: {
        from: 'a@example.test',
        transport: { name: 'down', version: '1', send: (_: unknown, done: (e: Error) => void) => done(new Error()) },
      },
    })
    await client().post('/auth/register', ada)
    await runtime.clock.set(runtime.clock.now() + 90_000)
    const gauges = async () => Object.fromEntries((await exported.collect()).map(({ name, value }) => [name, value]))
    expect(await gauges()).toMatchObject({
      'latchkey.outbox.waiting': 1,
      'latchkey.outbox.oldest_age': 90,
      'latchkey.outbox.set_aside': 0,
      'latchkey.hashing.queued': 0,
      'latchkey.change_feed.age': expect.any(Number),
    })
    database.failAfter(0)
    expect(Object.keys(await gauges())).not.toContain('latchkey.outbox.waiting')
    expect(Object.keys(await gauges())).toContain('latchkey.hashing.queued')
    database.failAfter(Number.POSITIVE_INFINITY)
    await auth.close()
    expect(await exported.collect()).toEqual([])
  })

  test('requests, steps of the store and mails are spans, and a step that fails says so without a message', async () => {
    const exported = startTelemetry()
    const database = failingDatabase()
    const { client } = await testAuth({ database: database.dialect })
    await client().signUp(ada)
    const names = exported.spans.map(({ name, attributes }) => `${name} ${Object.values(attributes).join(' ')}`.trim())
    expect(names).toEqual(
      expect.arrayContaining([
        'latchkey.request POST /auth/register 202',
        'latchkey.store oneTimeTokens.put',
        'latchkey.store outbox.lease',
        'latchkey.mail',
      ]),
    )
    database.failAfter(0)
    await client().post('/auth/login', ada)
    expect(exported.spans.filter(({ failed }) => failed).map(({ attributes }) => attributes)).toContainEqual({
      'db.operation.name': 'users.findByEmail',
      'error.type': 'AuthError',
    })
  })

  test('no span outlives the one it hangs below, and each mail begins a trace of its own', async () => {
    const exported = startTelemetry()
    const { client, mailbox, runtime } = await testAuth()
    const browser = client()
    await browser.signUp(ada)
    await browser.refresh()
    await browser.post('/auth/password/forgot', { email: ada.email })
    await mailbox.waitFor(ada.email)
    // Batches that a request has begun are written later.
    await browser.get('/api/notes')
    await runtime.clock.set(runtime.clock.now() + 60_000)

    const described = exported.spans.map(({ name, attributes, parent, outlivesParent }) => ({
      span: `${name} ${attributes['db.operation.name'] ?? ''}`.trim(),
      below: parent?.name ?? null,
      outlivesParent,
    }))
    expect(described.filter(({ outlivesParent }) => outlivesParent)).toEqual([])
    const ownTrace = (span: string) => expect.objectContaining({ span, below: null })
    for (const { span, below } of described) {
      if (/^latchkey\.mail$|outbox\.(lease|sent)$/.test(span)) expect([span, below]).toEqual([span, null])
    }
    expect(described).toEqual(
      expect.arrayContaining([
        ownTrace('latchkey.mail'),
        ownTrace('latchkey.store outbox.lease'),
        ownTrace('latchkey.store sessions.prove'),
        expect.objectContaining({ span: 'latchkey.store oneTimeTokens.put', below: 'latchkey.request' }),
      ]),
    )
  })

  test('a store that a request opens: what then runs by itself hangs below no request', async () => {
    const exported = startTelemetry()
    const mailbox = createTestMailbox()
    const auth = createAuth(testSettings({ mailbox }), createTestRuntime())
    onTestFinished(() => auth.close())
    await underHttpSpan(() => createTestClient(auth, { mailbox }).post('/auth/register', ada))
    await mailbox.waitFor(ada.email)
    const mail = () => exported.spans.find(({ name }) => name === 'latchkey.mail')
    await expect.poll(mail).toMatchObject({ parent: null })
    expect(exported.spans.filter(({ outlivesParent }) => outlivesParent)).toEqual([])
  })

  test('the HTTP span of a request to an auth route gets its route, that of any other does not', async () => {
    startTelemetry()
    const { client } = await testAuth()
    const browser = client()
    const post = await underHttpSpan(() => browser.post('/auth/login', ada))
    expect(post).toEqual({
      span: { 'http.route': '/auth/login' },
      metadata: expect.objectContaining({ route: '/auth/login' }),
    })
    const session = await underHttpSpan(() => browser.delete('/auth/sessions/unknown-session'))
    expect(session.span).toEqual({ 'http.route': '/auth/sessions/:id' })
    const other = await underHttpSpan(() => browser.get('/api/notes'))
    expect(other.span).toEqual({})
  })

  test('no name is missing in the table, and nothing tells of a person', async () => {
    const exported = startTelemetry()
    const { client } = await testAuth()
    const browser = client({ ip: '203.0.113.77' })
    await browser.signUp({ ...ada, name: 'Ada Lovelace' })
    await browser.post('/auth/login', { ...ada, password: 'not the right one' })
    await browser.get(`/auth/verify-email?token=${'t'.repeat(43)}`)
    await browser.delete('/auth/sessions/nobody-has-this-session')
    const all = [...exported.measured, ...(await exported.collect())]
    for (const { name, attributes } of all) {
      const known: readonly string[] = Object.entries(instruments).find(([key]) => key === name)?.[1].attributes ?? []
      expect(known, name).toEqual(expect.arrayContaining(Object.keys(attributes)))
    }
    for (const { name, attributes } of exported.spans) {
      const known: readonly string[] = Object.entries(spanTable).find(([key]) => key === name)?.[1].attributes ?? []
      expect([...known, 'error.type'], name).toEqual(expect.arrayContaining(Object.keys(attributes)))
    }
    expect(JSON.stringify([all, exported.spans])).not.toMatch(
      /ada@|Lovelace|203\.0\.113|ttttt|nobody-has|correct horse/,
    )
  })
})

describe('without', () => {
  test('the API alone does nothing, and its absence is none of anybody’s business', async () => {
    const { client } = await testAuth()
    await client().signUp(ada)
    const absent = await openTelemetry(() => Promise.reject(new Error('Cannot find package')))
    expect(absent).toBe(noTelemetry)
    expect(await absent.span('latchkey.mail', {}, async () => 42)).toBe(42)
  })
})
