import { expect, onTestFinished, test } from 'vitest'
import { newKeyPair } from '../../../src/testing/peer-desk.js'
import { diagnosed, examined } from '../../support/doctor.js'
import { issuerKey, keyServer } from '../../support/key-server.js'

const audience = 'https://api.app.example'

async function issuer() {
  const server = await keyServer()
  onTestFinished(() => server.stop().catch(() => {}))
  server.publish({ keys: [issuerKey('k1').jwk] })
  return server
}

test('a key set with a key for the algorithms is fine, and one run fetches it once', async () => {
  const server = await issuer()
  const results = await examined({ settings: { jwks: { url: server.url, audience } } })
  const rows = results.filter(({ code }) => code.startsWith('jwks_'))
  expect(rows).toMatchObject([{ ok: true }, { ok: true }, { ok: true }])
  expect(rows.every(({ skipped }) => skipped === null)).toBe(true)
  expect(server.asked).toBe(1)
})

test('a key set that cannot be fetched is found, without path and query of its URL', async () => {
  const server = await issuer()
  await server.stop()
  const settings = { jwks: { url: `${server.url}?key=s3cret`, audience } }
  const results = await diagnosed('jwks_unreachable', { settings })
  expect(results).toMatchObject([{ ok: false, level: 'error', finding: expect.stringMatching(/unreachable\.$/) }])
  expect(JSON.stringify(results)).not.toContain('s3cret')
  expect(await diagnosed('jwks_no_key', { settings })).toMatchObject([{ skipped: 'The key set cannot be fetched.' }])
})

test('ATK-213 a key set at a private address is not asked', async () => {
  let asked = 0
  const fetch = async () => {
    asked += 1
    return Response.json({ keys: [] })
  }
  const world = { fetch, lookup: async () => ['169.254.169.254'] }
  const settings = {
    jwks: { url: 'https://metadata.example/keys', audience },
    password: { checkBreached: false },
  }
  expect(await diagnosed('jwks_unreachable', { settings, world })).toMatchObject([
    { ok: false, finding: 'The key set at metadata.example cannot be fetched: private address.' },
  ])
  expect(asked).toBe(0)
})

test('a key set without a key for the algorithms is found', async () => {
  const server = await issuer()
  const { publicKey } = newKeyPair('P-256')
  server.publish({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'e1', use: 'sig', alg: 'ES256' }] })
  const settings = { jwks: { url: server.url, audience } }
  expect(await diagnosed('jwks_no_key', { settings })).toMatchObject([
    { ok: false, level: 'error', finding: 'The key set has no usable key for RS256.' },
  ])
  server.answer((_request, response) => void response.end('<html>'))
  expect(await diagnosed('jwks_no_key', { settings })).toMatchObject([
    { ok: false, finding: 'The document is no key set.' },
  ])
})

test('a key set without an audience is found', async () => {
  const server = await issuer()
  expect(await diagnosed('jwks_audience', { settings: { jwks: server.url } })).toMatchObject([
    { ok: false, level: 'warn' },
  ])
})

test('without another issuer nothing is fetched', async () => {
  const skipped = 'No key set of another issuer is in force.'
  for (const code of ['jwks_unreachable', 'jwks_no_key', 'jwks_audience'])
    expect(await diagnosed(code)).toMatchObject([{ ok: true, skipped }])
})
