import { expect, onTestFinished, test } from 'vitest'
import { createKeyring } from '../../../src/lib/keyring.js'
import { doctorProofHeader, makeDoctorProof } from '../../../src/model/doctor/proof.js'
import type { DoctorReport } from '../../../src/model/doctor/report.js'
import type { DoctorEcho } from '../../../src/model/doctor-echo.js'
import { createTestRuntime } from '../../../src/testing.js'
import { administered } from '../../support/administrators.js'
import { startRangeServer } from '../../support/range-server.js'

const doctor = '/auth/admin/api/doctor'
const echo = `${doctor}/echo`
const encryptionKey = 'uJ8cX1v0wQ7yR2mK5nB9sT4hG6fD3aZe'

/** What the tool with these settings sends. */
async function toolWorld() {
  const world = await administered({ encryptionKey })
  const { clock } = world.runtime
  const keyring = createKeyring([encryptionKey])
  const proofOf = (changes: object = {}) => {
    const request = { method: 'GET', origin: 'http://localhost:3000', path: echo, ...changes }
    return makeDoctorProof(keyring, request, Math.floor(clock.now() / 1000))
  }
  const ask = (proof: string, headers: Record<string, string> = {}) =>
    world.client({ as: 'server', headers: { ...headers, [doctorProofHeader]: proof } }).get<DoctorEcho>(echo)
  return { ...world, clock, keyring, proofOf, ask }
}

test('ATK-213 a hundred readers at once and reloads in the same minute ask other hosts once', async () => {
  const range = await startRangeServer()
  onTestFinished(() => range.close())
  const runtime = createTestRuntime({ fetch: globalThis.fetch })
  const { admin } = await administered({ password: { checkBreached: range.url } }, runtime)
  const asked = () => range.asked.filter(({ path }) => path === '/range/00000').length

  const answers = await Promise.all(Array.from({ length: 100 }, () => admin.get<DoctorReport>(doctor)))
  expect(asked()).toBe(1)
  for (let reload = 0; reload < 100; reload += 1) answers.push(await admin.get<DoctorReport>(doctor))
  expect(asked()).toBe(1)
  expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
  expect(answers[0]?.body.checks.length).toBeGreaterThan(20)

  await runtime.clock.advance('61s')
  const later = await admin.get<DoctorReport>(doctor)
  expect(asked()).toBe(2)
  expect(later.body.checkedAt).not.toBe(answers[0]?.body.checkedAt)
})

test('ATK-123 the report holds no secret and no mail recipient', async () => {
  const { admin, client } = await administered({ encryptionKey })
  await client().post('/auth/password/forgot', { email: 'ada@example.test' })
  const { text } = await admin.get(doctor)
  for (const secret of [encryptionKey, 'ada@example.test', 'a difference engine of brass']) {
    expect(text).not.toContain(secret)
  }
})

test('the tool with a proof gets the echo without a sign-in, and a test cookie', async () => {
  const { ask, proofOf } = await toolWorld()
  const headers = {
    'x-forwarded-for': '203.0.113.9',
    via: '1.1 proxy',
    cookie: 'access-token=stolen',
    'x-apikey': 'stolen',
    'x-forwarded-access-token': 'stolen',
  }
  const answer = await ask(proofOf(), headers)
  expect(answer.status).toBe(200)
  expect(answer.body).toMatchObject({
    baseUrl: 'http://localhost:3000',
    ip: '127.0.0.1',
    fromTrustedProxy: false,
    trustedProxies: 'none',
    headers: { 'x-forwarded-for': '203.0.113.9', via: '1.1 proxy' },
  })
  expect(Object.keys(answer.body.headers)).toHaveLength(2)
  expect(answer.text).not.toContain('stolen')
  expect(answer.headers.getSetCookie()).toEqual([answer.body.cookie])
  expect(answer.body.cookie).toMatch(/^doctor=check; Max-Age=60; Path=\/; HttpOnly; SameSite=Lax$/)
})

test('ATK-213 a proof is refused after a minute, for another origin, path or method, and under another key', async () => {
  const { ask, proofOf, clock, keyring } = await toolWorld()
  const proof = proofOf()
  await clock.advance('60s')
  expect((await ask(proof)).status).toBe(200)
  await clock.advance('1s')
  const at = Math.floor(clock.now() / 1000)
  const request = { method: 'GET', origin: 'http://localhost:3000', path: echo }
  const text = ['GET', request.origin, request.path, String(at)].join('\n')
  const refused = [
    proof,
    proofOf({ origin: 'https://other.example' }),
    proofOf({ path: doctor }),
    proofOf({ method: 'POST' }),
    makeDoctorProof(createKeyring(['another key of this test, long enough']), request, at),
    `${at}.${keyring.digest('audit', text)}`,
    '',
  ]
  for (const each of refused) expect((await ask(each)).status, each).toBe(401)
})

test('ATK-213 a proof opens no other route', async () => {
  const { client, proofOf } = await toolWorld()
  const tool = client({ as: 'server', headers: { [doctorProofHeader]: proofOf({ path: doctor }) } })
  for (const path of [doctor, '/auth/admin/api/settings', '/auth/admin/api/users']) {
    expect((await tool.get(path)).status).toBe(401)
  }
})
