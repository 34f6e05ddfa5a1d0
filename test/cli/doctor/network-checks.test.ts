import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { gatherEvidence } from '../../../src/cli/doctor/evidence.js'
import { judgeNetwork, skipNetwork } from '../../../src/cli/doctor/network-checks.js'
import { init, type LatchkeySettings } from '../../../src/index.js'
import { createKeyring } from '../../../src/lib/keyring.js'
import { createRandom } from '../../../src/lib/random.js'
import { doctorProofHeader, makeDoctorProof } from '../../../src/model/doctor/proof.js'
import { echoPath } from '../../../src/model/doctor-echo.js'
import { findingsOf } from '../../support/doctor.js'
import { type ProxyFaults, proxyAddress, startWebProxy } from '../../support/web-proxy.js'

const origin = 'https://app.example'
const secret = createRandom().token()
const silent = { warn: () => {}, error: () => {} }

interface Deployment {
  settings?: Partial<LatchkeySettings>
  proxy?: ProxyFaults
  /** The origin that the tool asks. Default: that of baseUrl. */
  asks?: string
  secret?: string
  installationId?: string
  /** How far the clock of the tool is behind that of the server. */
  behindMs?: number
}

/** A real application behind a real proxy. Only the name `app.example` leads to loopback without TLS. */
async function startDeployment({ settings = {}, proxy = {} }: Deployment): Promise<number> {
  const server = createServer((_request, response) => void response.writeHead(404).end())
  const auth = init(server, {
    JWT_ACCESS_TOKEN_SECRET: createRandom().token(),
    JWT_REFRESH_TOKEN_SECRET: createRandom().token(),
    encryptionKey: secret,
    baseUrl: origin,
    admin: { emails: ['ann@app.example'] },
    database: 'sqlite::memory:',
    mail: { from: 'Acme <hello@app.example>', transport: 'smtp://127.0.0.1:9' },
    password: { checkBreached: false },
    trustedProxies: [proxyAddress],
    logger: silent,
    ...settings,
  })
  await auth.ready()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    server.close()
    await auth.close()
  })
  const { port } = server.address() as AddressInfo
  return (await startWebProxy(port, proxy)).port
}

async function examined(deployment: Deployment = {}) {
  const { asks = origin, installationId = null, behindMs = 0 } = deployment
  const port = await startDeployment(deployment)
  const keyring = createKeyring([deployment.secret ?? secret])
  const now = () => Date.now() - behindMs
  const request = { method: 'GET', origin, path: `/auth${echoPath}` }
  const evidence = await gatherEvidence(
    {
      auth: `${asks}/auth`,
      credential: () => ({ [doctorProofHeader]: makeDoctorProof(keyring, request, Math.floor(now() / 1000)) }),
      installationId,
    },
    { now, fetch: (input, options) => fetch(String(input).replace(asks, `http://127.0.0.1:${port}`), options) },
  )
  return judgeNetwork(evidence)
}

const found = async (deployment: Deployment) => findingsOf(await examined(deployment))

test('a sound deployment has no finding, and no check is skipped', async () => {
  const results = await examined()
  expect(results.map(({ code }) => code)).toEqual([
    'clock_skew',
    'base_url_mismatch',
    'page_unreachable',
    'https_missing',
    'hsts_missing',
    'cookie_altered',
    'proxy_untrusted',
    'proxy_spoofable',
    'allow_list_self',
  ])
  expect(results.filter(({ ok, skipped }) => !ok || skipped !== null)).toEqual([])
})

test('an installation with other secrets, or with another database, is not this one', async () => {
  expect(await found({ secret: createRandom().token() })).toMatchObject([
    {
      code: 'base_url_mismatch',
      level: 'error',
      finding: expect.stringContaining('refuses the credential of the tool'),
    },
  ])
  expect(await found({ installationId: 'another' })).toMatchObject([
    { code: 'base_url_mismatch', finding: `${origin} answers as another installation, with another database.` },
  ])
})

test('an application that is reached at another origin than baseUrl is found', async () => {
  expect(await found({ asks: 'https://other.example' })).toMatchObject([
    { code: 'base_url_mismatch', finding: expect.stringContaining('The setting baseUrl is https://app.example') },
  ])
})

test('an address that does not answer, redirects, or leads to another program is found', async () => {
  const asking = (fetch: typeof globalThis.fetch) =>
    gatherEvidence({ auth: `${origin}/auth`, credential: () => ({}), installationId: null }, { fetch, now: Date.now })
  const judged = async (fetch: typeof globalThis.fetch) =>
    findingsOf(judgeNetwork(await asking(fetch))).map(({ code, finding }) => [code, finding])
  const nowhere = (input: Parameters<typeof fetch>[0]) => fetch(String(input).replace(origin, 'http://127.0.0.1:1'))
  expect(await judged(nowhere)).toEqual([['base_url_mismatch', `${origin} does not answer: the connection failed.`]])
  const headers = { location: 'https://www.app.example/auth' }
  expect(await judged(async () => new Response(null, { status: 301, headers }))).toEqual([
    ['base_url_mismatch', `${origin} redirects to https://www.app.example.`],
  ])
  expect(await judged(async () => new Response('Welcome to nginx!'))).toEqual([
    ['base_url_mismatch', `${origin} does not answer like Latchkey (status 200).`],
  ])
})

test('a proxy that does not forward the files of the pages is found', async () => {
  const proxy = { blocks: (path: string) => path.startsWith('/auth/assets/') }
  const findings = await found({ proxy })
  expect(findings.length).toBeGreaterThan(0)
  for (const finding of findings)
    expect(finding).toMatchObject({
      code: 'page_unreachable',
      level: 'error',
      finding: expect.stringMatching(/^\/auth\/assets\/\S+ answers with status 404\.$/),
    })
})

test('a proxy that forwards the API alone is found', async () => {
  const proxy = { blocks: (path: string) => !path.startsWith('/auth/admin/api/') }
  expect(await found({ proxy })).toMatchObject([
    { code: 'page_unreachable', finding: '/auth/login answers with status 404.' },
  ])
})

test('a site without TLS is found', async () => {
  const [first] = await found({ asks: 'http://app.example' })
  expect(await found({ asks: 'http://app.example' })).toContainEqual({
    ...first,
    code: 'https_missing',
    finding: 'http://app.example is reached over http.',
    cause: expect.any(String),
    cure: expect.any(String),
  })
})

test('a proxy that strips Strict-Transport-Security is found', async () => {
  const proxy = { toBrowser: (headers: Record<string, unknown>) => void delete headers['strict-transport-security'] }
  expect(await found({ proxy })).toMatchObject([
    { code: 'hsts_missing', level: 'warn', finding: `Answers of ${origin} lack Strict-Transport-Security.` },
  ])
})

test.each([
  ['/auth', 'Path=/;', 'Path=/auth;', 'The cookie __Host-doctor arrived with another path.'],
  ['no Secure', '; Secure', '', 'The cookie __Host-doctor arrived with another secure.'],
  ['SameSite', 'SameSite=Lax', 'SameSite=None', 'The cookie __Host-doctor arrived with another samesite.'],
  ['a domain', '; HttpOnly', '; HttpOnly; Domain=app.example', 'The cookie __Host-doctor arrived with another domain.'],
  ['a prefix', '__Host-doctor', 'app1-__Host-doctor', 'The cookie __Host-doctor did not arrive under its name.'],
  ['a value', '=check', '=c2hlY2s', 'The value of the cookie __Host-doctor has changed.'],
])('a proxy that rewrites cookies is found: %s', async (_name, from, to, finding) => {
  const toBrowser: ProxyFaults['toBrowser'] = (headers) => {
    const cookies = headers['set-cookie']
    if (cookies !== undefined) headers['set-cookie'] = [cookies].flat().map((line) => String(line).replace(from, to))
  }
  expect(await found({ proxy: { toBrowser } })).toMatchObject([{ code: 'cookie_altered', level: 'error', finding }])
})

test('a proxy that is not trusted is found', async () => {
  expect(await found({ settings: { trustedProxies: undefined } })).toMatchObject([
    { code: 'proxy_untrusted', level: 'error', finding: expect.stringContaining('the header x-forwarded-for') },
  ])
})

test('a proxy on the side of the client, which names no client, is no finding', async () => {
  const toServer: ProxyFaults['toServer'] = (headers) => {
    delete headers['x-forwarded-for']
    headers.via = '1.1 office'
  }
  expect(await found({ settings: { trustedProxies: undefined }, proxy: { toServer } })).toEqual([])
})

test('a proxy that passes a forged X-Forwarded-For on is found', async () => {
  const toServer: ProxyFaults['toServer'] = (headers, client) => {
    const [sent] = String(headers['x-forwarded-for']).split(', ')
    headers['x-forwarded-for'] = sent ?? client
  }
  const forged = [{ code: 'proxy_spoofable', level: 'error', finding: expect.stringContaining('198.51.100.77') }]
  expect(await found({ proxy: { toServer } })).toMatchObject(forged)
  expect(await found({ settings: { trustedProxies: 2 } })).toMatchObject(forged)
})

test('an allow-list that excludes the tool is found, and nothing else is concluded', async () => {
  const results = await examined({ settings: { allowList: ['203.0.113.0/24'] } })
  expect(findingsOf(results)).toMatchObject([{ code: 'allow_list_self', level: 'warn' }])
  expect(results).toContainEqual(
    expect.objectContaining({ code: 'base_url_mismatch', ok: true, skipped: 'The allow-list excludes this machine.' }),
  )
})

test('an allow-list that refuses the forged address alone shows that it was believed', async () => {
  const settings = { trustedProxies: ['127.0.0.9'], allowList: ['127.0.0.1'] }
  const toServer: ProxyFaults['toServer'] = (headers) => {
    headers['x-forwarded-for'] = String(headers['x-forwarded-for']).split(', ')[0]
  }
  expect(await found({ settings, proxy: { toServer } })).toMatchObject([{ code: 'proxy_spoofable' }])
})

test('a tool at the address of a trusted proxy may state any address, so nothing is concluded', async () => {
  const results = await examined({ settings: { trustedProxies: ['127.0.0.0/8'] } })
  expect(findingsOf(results)).toEqual([])
  expect(results.find(({ code }) => code === 'proxy_spoofable')?.skipped).toContain('the address of a trusted proxy')
})

test('clocks that differ are found, also where the proof is refused for it', async () => {
  expect(await found({ behindMs: 10_000 })).toMatchObject([{ code: 'clock_skew', level: 'warn' }])
  const results = await examined({ behindMs: 120_000 })
  expect(findingsOf(results)).toMatchObject([{ code: 'clock_skew', level: 'error' }])
  expect(results).toContainEqual(
    expect.objectContaining({ code: 'base_url_mismatch', ok: true, skipped: expect.stringContaining('clocks') }),
  )
})

test('without evidence every check says why', () => {
  const results = skipNetwork('The settings are wrong.')
  expect(results.every(({ ok, skipped }) => ok && skipped === 'The settings are wrong.')).toBe(true)
})
