import { once } from 'node:events'
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { exportJWK, SignJWT } from 'jose'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { AuthError } from '../../src/errors.js'
import { createHostOf } from '../../src/host/host.js'
import type { Host } from '../../src/host/host-options.js'
import { createHostPieces } from '../../src/host/host-pieces.js'
import { parseHostSettings } from '../../src/host/settings/host-settings.js'
import type { ChildPrograms } from '../../src/host/spaces/programs.js'
import { newKeyPair } from '../../src/testing/peer-desk.js'
import { hostPath } from '../support/host-folder.js'
import { freePort } from '../support/program.js'
import { archiveOfBundle, buildRunner, mingo } from '../support/space-release.js'
import { threadProgram } from '../support/storage-threads.js'

vi.setConfig({ testTimeout: 120_000 })

let folder: string
let programs: ChildPrograms
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'latchkey-whole-'))
  programs = { runner: await buildRunner(folder), mingo, thread: await threadProgram() }
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const administrator = { email: 'ann@example.test', password: 'a difference engine of brass' }

interface Place {
  data: string
  baseUrl: string
  adminUrl: string
}

async function place(): Promise<Place> {
  const [front, admin] = [await freePort(), await freePort()]
  return { data: await hostPath(), baseUrl: `http://127.0.0.1:${front}`, adminUrl: `http://127.0.0.1:${admin}` }
}

/** A host as `latchkey serve` runs it, over the programs of this test. */
async function listening(at: Place, pieces = createHostPieces(programs)): Promise<Host> {
  const logger = { warn: () => {}, error: () => {} }
  const settings = parseHostSettings({
    ...at,
    listen: new URL(at.baseUrl).host,
    adminListen: new URL(at.adminUrl).host,
    auth: { logger, password: { checkBreached: false } },
  })
  const stopTimes = { noticeMs: 0, drainMs: 1_000 }
  const host = createHostOf(settings, pieces, { stopTimes })
  onTestFinished(() => host.close())
  await host.listen()
  return host
}

type Call = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>

interface Answer {
  status: number
  text: string
  body: Record<string, unknown>
}

async function ask(url: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(url, init)
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json') && !text.includes('}\n{')
  return { status: response.status, text, body: isJson ? JSON.parse(text || '{}') : {} }
}

function callsOf({ adminUrl }: Place, credential: Record<string, string>): Call {
  return (method, path, body, headers = {}) =>
    ask(`${adminUrl}/auth/admin/api${path}`, {
      method,
      headers: { ...credential, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
}

/** The set-up link, as its page uses it. */
async function setUp(at: Place): Promise<Call> {
  const key = new URL((await readFile(join(at.data, 'setup-url'), 'utf8')).trim()).searchParams.get('key')
  const { status, body } = await ask(`${at.adminUrl}/auth/setup`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-auth-mode': 'token' },
    body: JSON.stringify({ key, ...administrator }),
  })
  expect(status).toBe(201)
  return callsOf(at, { authorization: `Bearer ${body.accessToken}` })
}

async function deploy({ adminUrl }: Place, space: string, credential: Record<string, string>, bundle: string) {
  const { status, text } = await ask(`${adminUrl}/auth/admin/api/spaces/${space}/releases`, {
    method: 'POST',
    headers: { ...credential, 'content-type': 'application/gzip' },
    body: await archiveOfBundle(bundle),
  })
  return { status, rows: text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)])) }
}

test('a host is set up, gets a space, and serves what is deployed in it', async () => {
  const at = await place()
  const host = await listening(at)
  const call = await setUp(at)
  expect((await call('GET', '')).body).toMatchObject({ home: 'host', project: 'default', spaces: [] })
  expect((await call('POST', '/spaces', { name: 'dev' })).status).toBe(201)
  expect((await ask(`${at.baseUrl}/dev/open`)).body).toMatchObject({ code: 'space_not_found' })
  const secret = { name: 'SECRET', value: 'hidden from everyone', encrypted: true }
  expect((await call('POST', '/spaces/dev/env', secret)).status).toBe(204)

  const made = await call('POST', '/admintokens', { owner: 'personal', name: 'ci' })
  expect(made.status).toBe(201)
  const script = { 'x-admintoken': String(made.body.token) }
  const deployed = await deploy(at, 'dev', script, 'friendly')
  expect(deployed.rows.at(-1)).toMatchObject({
    ...{ done: true, release: 1 },
    warnings: ['worker mail', 'queue orders', 'cron job */5 * * * *', 'realtime channel /chat'].map(
      (name) => `The ${name} never runs: this host does not support it.`,
    ),
  })

  expect((await ask(`${at.baseUrl}/dev/open`)).body).toEqual({ first: true })
  expect((await ask(`${at.baseUrl}/dev/env`)).status).toBe(401)
  const token = await call('POST', '/spaces/dev/tokens', { name: 'reader', access: 'READ' })
  const key = String(token.body.token)
  const byHeader = await ask(`${at.baseUrl}/dev/env`, { headers: { 'x-apikey': key } })
  expect(byHeader.body).toMatchObject({ SECRET: 'hidden from everyone' })
  expect((await ask(`${at.baseUrl}/dev/env?apikey=${key}`)).text).toBe(byHeader.text)
  expect((await call('GET', '/spaces/dev/env')).text).not.toContain('hidden')

  // The next start of the host serves the same.
  await host.close()
  await listening(at)
  await vi.waitFor(async () => expect((await ask(`${at.baseUrl}/dev/open`)).status).toBe(200), { timeout: 20_000 })
})

test('a release that does not start is refused, a former one is put in force again, and undeployed', async () => {
  const at = await place()
  await listening(at)
  const call = await setUp(at)
  await call('POST', '/spaces', { name: 'dev' })
  const made = await call('POST', '/admintokens', { owner: 'personal', name: 'ci' })
  const script = { 'x-admintoken': String(made.body.token) }
  await deploy(at, 'dev', script, 'friendly')
  const refused = await deploy(at, 'dev', script, 'throws-at-import')
  expect(refused.rows.at(-1)).toMatchObject({ error: { code: 'bundle_invalid' } })
  expect((await ask(`${at.baseUrl}/dev/open`)).status).toBe(200)

  expect((await deploy(at, 'dev', script, 'friendly')).rows.at(-1)).toMatchObject({ done: true, release: 3 })
  const back = await call('POST', '/spaces/dev/releases/1/activate')
  expect(back.text).toContain('"release":1')
  expect((await ask(`${at.baseUrl}/dev/open`)).status).toBe(200)
  const gone = await callsOf(at, script)('DELETE', '/spaces/dev/releases/current', { confirm: 'dev' })
  expect(gone.status).toBe(204)
  expect((await ask(`${at.baseUrl}/dev/open`)).status).toBe(404)
  expect((await callsOf(at, script)('GET', '/project/users')).body).toMatchObject({ code: 'admin_token_not_for_this' })
})

test('a start that fails while the spaces are read frees the folder for the next one', async () => {
  const at = await place()
  const pieces = createHostPieces(programs)
  const failing: typeof pieces = {
    ...pieces,
    openSpaces({ running, ...ground }) {
      const spaces = { ...running.nouns.spaces, removed: () => Promise.reject(new AuthError('store_unavailable')) }
      return pieces.openSpaces({ ...ground, running: { ...running, nouns: { ...running.nouns, spaces } } })
    },
  }
  await expect(listening(at, failing)).rejects.toMatchObject({ code: 'store_unavailable' })
  await listening(at)
})

test('ATK-202 beside an older host.db, data of a newer generation is set aside, and doctor names it', async () => {
  const at = await place()
  const first = await listening(at)
  const call = await setUp(at)
  await call('POST', '/spaces', { name: 'dev' })
  const made = await call('POST', '/admintokens', { owner: 'personal', name: 'ci' })
  await deploy(at, 'dev', { 'x-admintoken': String(made.body.token) }, 'friendly')
  await first.close()
  const [id = ''] = await readdir(join(at.data, 'spaces'))
  const own = join(at.data, 'spaces', id)
  await cp(join(own, 'g1.db'), join(own, 'g2.db'))
  await writeFile(join(own, 'g2.db-wal'), 'newer')

  await listening(at)
  expect((await readdir(own)).filter((name) => name.startsWith('g2'))).toEqual([])
  expect(await readFile(join(own, 'lost', 'g2', 'g2.db-wal'), 'utf8')).toBe('newer')
  await vi.waitFor(async () => expect((await ask(`${at.baseUrl}/dev/open`)).status).toBe(200), { timeout: 20_000 })
  const { checks } = (await call('GET', '/doctor')).body as { checks: { code: string; finding: string }[] }
  expect(checks.find(({ code }) => code === 'generation_lost')?.finding).toContain(join(own, 'lost'))
})

test('an application whose data is missing does not start on none, and a restore brings it back', async () => {
  const at = await place()
  const first = await listening(at)
  const call = await setUp(at)
  await call('POST', '/spaces', { name: 'dev' })
  const made = await call('POST', '/admintokens', { owner: 'personal', name: 'ci' })
  const token = { 'x-admintoken': String(made.body.token) }
  await deploy(at, 'dev', token, 'friendly')
  const backup = await fetch(`${at.adminUrl}/auth/admin/api/spaces/dev/backup`, { headers: token })
  const archive = Buffer.from(await backup.arrayBuffer())
  await first.close()
  const [id = ''] = await readdir(join(at.data, 'spaces'))
  const own = join(at.data, 'spaces', id)
  const files = async () => (await readdir(own)).filter((name) => name.startsWith('g1.db'))
  for (const name of await files()) await rm(join(own, name))

  await listening(at)
  const open = async () => (await ask(`${at.baseUrl}/dev/open`)).status
  await vi.waitFor(async () => expect([502, 503]).toContain(await open()), { timeout: 20_000 })
  expect(await files()).toEqual([])
  const restored = await fetch(`${at.adminUrl}/auth/admin/api/spaces/dev/restore?confirm=dev`, {
    method: 'POST',
    headers: { ...token, 'content-type': 'application/gzip' },
    body: archive,
  })
  expect(await restored.text()).toContain('"done":true')
  await vi.waitFor(async () => expect(await open()).toBe(200), { timeout: 20_000 })
})

/** An issuer on loopback that publishes its key set, and signs tokens for it. */
async function issuer() {
  const { publicKey, privateKey } = newKeyPair('rsa')
  const keySet = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: 'one', alg: 'RS256', use: 'sig' }] })
  const server = createServer((_, response) => void response.setHeader('content-type', 'application/json').end(keySet))
  onTestFinished(() => void server.close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/jwks.json`
  const sign = (subject: string) =>
    new SignJWT()
      .setProtectedHeader({ alg: 'RS256', kid: 'one' })
      .setSubject(subject)
      .setExpirationTime('5m')
      .sign(privateKey)
  return { url, sign }
}

test('ATK-124 ATK-151 ATK-152 each credential of a space gets what the specification says, and nothing falls through', async () => {
  const at = await place()
  await listening(at)
  const call = await setUp(at)
  const made = await call('POST', '/admintokens', { owner: 'personal', name: 'ci' })
  for (const name of ['dev', 'prod']) await call('POST', '/spaces', { name })
  await deploy(at, 'dev', { 'x-admintoken': String(made.body.token) }, 'friendly')
  const tokenOf = async (space: string, access: string) =>
    (await call('POST', `/spaces/${space}/tokens`, { name: access, access })).body
  const [reader, writer, foreign] = [
    await tokenOf('dev', 'READ'),
    await tokenOf('dev', 'READWRITE'),
    await tokenOf('prod', 'READ'),
  ]
  const send = (path: string, headers: Record<string, string>, method = 'GET') =>
    ask(`${at.baseUrl}/dev${path}`, { method, headers })
  const key = ({ token }: Record<string, unknown>) => ({ 'x-apikey': String(token) })

  // ATK-151: the method of the request counts, whatever else names another.
  expect((await send('/echo', key(writer), 'POST')).status).toBe(200)
  for (const more of [{}, { 'x-http-method-override': 'GET' }, { 'x-method-override': 'GET' }]) {
    const refused = await send('/echo?_method=GET', { ...key(reader), ...more }, 'POST')
    expect(refused).toMatchObject({ status: 403, body: { code: 'insufficient_access' } })
  }
  const overridden = await send('/echo?_method=DELETE', { ...key(reader), 'x-http-method-override': 'DELETE' })
  expect(overridden.body).toMatchObject({ method: 'GET' })

  // ATK-150, ATK-124: what belongs to another space is unknown here.
  expect((await send('/closed', key(foreign))).status).toBe(401)
  expect((await call('DELETE', `/spaces/dev/tokens/${foreign.id}`)).status).toBe(404)
  expect((await call('POST', `/spaces/dev/tokens/${foreign.id}/rotate`, {})).status).toBe(404)
  expect((await call('POST', '/spaces/prod/releases/1/activate')).text).toContain('"not_found"')

  // ATK-152: with a key set, an RS256 bearer is judged by it alone.
  const trusted = await issuer()
  const stranger = await issuer()
  expect((await call('POST', '/spaces/dev/access/jwks', { url: trusted.url })).status).toBe(200)
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
  const good = bearer(await trusted.sign('partner'))
  expect((await send('/closed', good)).text).toBe('in')
  expect((await send('/echo', good)).body).toMatchObject({ auth: { kind: 'jwt', subject: 'partner' } })
  expect((await send('/closed', {})).status).toBe(401)
  expect((await send('/open', {})).status).toBe(200)
  for (const path of ['/open', '/closed']) {
    expect((await send(path, bearer(await stranger.sign('partner')))).status).toBe(401)
  }
  await call('POST', '/spaces/dev/access/jwks', { url: trusted.url, exclusive: true })
  expect((await send('/open', {})).status).toBe(401)
  expect((await send('/open', good)).status).toBe(200)
})

test('an admin token exports a collection and backs its space up, one for another command does neither', async () => {
  const at = await place()
  await listening(at)
  const call = await setUp(at)
  await call('POST', '/spaces', { name: 'dev' })
  const tokenFor = async (...commands: string[]) => {
    const { body } = await call('POST', '/admintokens', { owner: 'personal', name: commands.join(' '), commands })
    return { 'x-admintoken': String(body.token) }
  }
  const [script, other] = [await tokenFor('deploy', 'export', 'backup'), await tokenFor('deploy')]
  await deploy(at, 'dev', script, 'friendly')
  const ask = (path: string, headers: Record<string, string>) =>
    fetch(`${at.adminUrl}/auth/admin/api/spaces/dev${path}`, { headers })
  const backup = await ask('/backup', script)
  expect(backup.status).toBe(200)
  expect(backup.headers.get('content-disposition')).toMatch(/^attachment; filename="dev-\d{8}T\d{4}Z\.tar\.gz"$/)
  const archive = gunzipSync(Buffer.from(await backup.arrayBuffer()))
  expect(archive.subarray(0, 13).toString()).toBe('manifest.json')
  expect(archive.includes('release/bundle.mjs')).toBe(true)
  expect((await ask('/collections/none/export', script)).status).toBe(404)
  for (const path of ['/backup', '/collections/none/export']) expect((await ask(path, other)).status).toBe(403)
})
