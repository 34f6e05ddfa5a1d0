import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Auth, init } from '../../src/index.js'
import { secretsForEnvironment } from '../support/application-folder.js'
import { freePort } from '../support/program.js'
import { type Desk, openDesk } from '../support/tool.js'

const ann = { email: 'ann@example.org', password: 'a difference engine of brass' }

interface Live {
  auth: Auth
  desk: Desk
  url: string
  /** The tool, which finds the application by `latchkey.json`. */
  latchkey: Desk['run']
  /** The status of a call to the guarded API. */
  call(headers: Record<string, string>): Promise<number>
}

/** A running application, and an administrator who has signed in to it by the tool. */
async function live(): Promise<Live> {
  const [desk, port] = await Promise.all([openDesk(), freePort()])
  const url = `http://127.0.0.1:${port}`
  const server = createServer((_request, response) => response.end('{}'))
  const { JWT_ACCESS_TOKEN_SECRET = '', JWT_REFRESH_TOKEN_SECRET = '' } = secretsForEnvironment()
  const auth = init(server, {
    JWT_ACCESS_TOKEN_SECRET,
    JWT_REFRESH_TOKEN_SECRET,
    baseUrl: url,
    database: `sqlite:${join(desk.folder, 'live.db')}`,
    admin: { emails: [ann.email] },
    logger: { warn() {}, error() {} },
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    server.closeAllConnections()
    server.close()
    await auth.close()
  })
  await auth.users.create({ ...ann, name: 'Ann', emailVerified: true })
  const login = await desk.run(['login', url, '--password', '-', '--email', ann.email], { input: `${ann.password}\n` })
  expect(login).toMatchObject({ code: 0, stdout: `Signed in to ${url} as ${ann.email}\n` })
  return {
    auth,
    desk,
    url,
    latchkey: desk.run,
    call: async (headers) => (await fetch(`${url}/api/x`, { headers })).status,
  }
}

describe('against a running application', () => {
  test('an API token is created, listed, rotated and removed, each in force at once and with its actor in the log', async () => {
    const { auth, latchkey, call } = await live()
    const created = await latchkey(['add-token', '--readonly', '--name', 'ci', '--expires', '90d'])
    expect(created).toMatchObject({ code: 0 })
    expect(created.stdout).toMatch(/^Created new token [0-9a-f-]{36} with access READ\n$/)
    const token = created.stdout.split(' ')[3] ?? ''
    expect(await call({ 'x-apikey': token })).toBe(200)

    const [{ id } = { id: '' }] = JSON.parse((await latchkey(['tokens', '--json'])).stdout).items
    const rotated = await latchkey(['rotate-token', id, '--overlap', '1d'])
    const successor = rotated.stdout.split(' ')[3] ?? ''
    expect([await call({ 'x-apikey': token }), await call({ 'x-apikey': successor })]).toEqual([200, 200])

    expect(await latchkey(['remove-token', id])).toMatchObject({ code: 0 })
    expect(await latchkey(['remove-token', id])).toMatchObject({ code: 1 })
    expect([await call({ 'x-apikey': token }), await call({ 'x-apikey': successor })]).toEqual([401, 200])

    const user = await auth.users.findByEmail(ann.email)
    const { items } = await auth.audit.list({ event: 'api_token_removed' })
    expect(items).toMatchObject([{ actor: { kind: 'user', userId: user?.id, impersonating: null } }])
  })

  test('whoami and info describe it', async () => {
    const { latchkey, url } = await live()
    expect(await latchkey(['whoami'])).toEqual({ code: 0, stdout: `${ann.email}, ADMIN of ${url}\n`, stderr: '' })
    const { code, stdout } = await latchkey(['info'])
    expect(stdout).toContain(`URL        ${url}\n`)
    expect(stdout).toContain('JWKS       none')
    expect(code).toBe(0)
  })

  test('the allow-list is changed only with the own address on it, or by force', async () => {
    const { latchkey, call } = await live()
    expect(await latchkey(['whitelist', '203.0.113.7', '--yes'])).toMatchObject({ code: 2 })
    expect(await latchkey(['whitelist', '127.0.0.0/8', '--yes'])).toMatchObject({ code: 0 })
    expect((await latchkey(['whitelist'])).stdout).toContain('Your own address 127.0.0.1 may use the API.')
    expect(await latchkey(['whitelist', '203.0.113.7'])).toMatchObject({ code: 0 })
    const refused = await latchkey(['whitelist-remove', '127.0.0.0/8'])
    expect(refused).toMatchObject({ code: 2 })
    expect(refused.stderr).toContain('--confirm 127.0.0.1')
    expect(await call({})).toBe(401)
    const forced = ['whitelist-remove', '127.0.0.0/8', '--force', '--confirm', '127.0.0.1']
    expect(await latchkey(forced)).toMatchObject({ code: 0 })
    expect(await call({})).toBe(403)
    expect(await latchkey(['tokens'])).toMatchObject({ code: 3, stdout: '' })
  })

  test('a JWKS URL that cannot be reached is refused, and set without the check', async () => {
    const { auth, latchkey } = await live()
    const url = 'http://127.0.0.1:1/.well-known/jwks.json'
    expect(await latchkey(['jwks', url])).toMatchObject({ code: 1, stdout: '' })
    expect(await latchkey(['jwks', url, '--no-check'])).toMatchObject({ stdout: 'Set JWKS url for this application\n' })
    expect((await auth.access.get()).jwksUrl).toBe(url)
    expect(await latchkey(['jwks', '--remove'])).toMatchObject({ code: 0 })
    expect((await auth.access.get()).jwksUrl).toBeNull()
  })

  test('accounts are listed, and sessions end', async () => {
    const { auth, latchkey } = await live()
    await auth.users.create({ email: 'bob@example.org', emailVerified: true })
    expect((await latchkey(['users', '--query', 'bob'])).stdout).toContain('bob@example.org')
    const sessions = JSON.parse((await latchkey(['sessions', '--json'])).stdout).items
    expect(sessions).toMatchObject([{ email: ann.email }])
    expect(await latchkey(['sessions', 'end', sessions[0].id])).toMatchObject({ code: 0 })
    expect(await latchkey(['sessions'])).toMatchObject({ code: 3, stdout: '' })
  })

  test('an account is shown, and disabled with its API session at once', async () => {
    const { auth, latchkey } = await live()
    await auth.users.create({ email: 'bob@example.org', name: 'Bob', emailVerified: true })
    expect((await latchkey(['users', 'show', 'Bob@example.org'])).stdout).toMatch(/^Name +Bob$/m)
    const disabled = await latchkey(['users', 'disable', 'bob@example.org', '--reason', 'chargeback'])
    expect(disabled).toMatchObject({ code: 0 })
    expect((await latchkey(['users', 'show', 'bob@example.org'])).stdout).toMatch(/^State +disabled \(chargeback\)$/m)
    expect(await latchkey(['users', 'enable', 'bob@example.org'])).toMatchObject({ code: 0 })
    expect((await auth.users.findByEmail('bob@example.org'))?.disabledAt).toBeNull()
  })

  test('the audit log is listed, verified and exported', async () => {
    const { desk, latchkey } = await live()
    await latchkey(['add-token'])
    expect((await latchkey(['audit', '--event', 'api_token_created'])).stdout).toContain('api_token_created  success')
    expect((await latchkey(['audit', '--user', ann.email, '--since', '1h'])).stdout).toContain('login')
    expect(await latchkey(['audit', 'verify'])).toMatchObject({ code: 0, stdout: 'The audit log is unbroken.\n' })
    expect(await latchkey(['audit', 'export', '-f', 'audit.jsonl'])).toMatchObject({ code: 0 })
    const lines = (await readFile(join(desk.folder, 'audit.jsonl'), 'utf8')).trim().split('\n')
    const events = lines.map((line) => JSON.parse(line).event)
    expect(events).toContain('api_token_created')
    expect(events).toContain('account_created')
  })

  test('logout ends the session at the server', async () => {
    const { auth, latchkey, url } = await live()
    const user = await auth.users.findByEmail(ann.email)
    expect(await latchkey(['logout'])).toMatchObject({ code: 0, stdout: `Signed out of ${url}\n` })
    expect((await auth.sessions.list(user?.id ?? '')).items).toEqual([])
    expect(await latchkey(['tokens'])).toMatchObject({ code: 3 })
  })

  test('an account without the role ADMIN is exit 3', async () => {
    const { auth, desk, latchkey, url } = await live()
    await auth.users.create({ ...ann, email: 'bob@example.org', emailVerified: true })
    const login = ['login', url, '--password', '-', '--email', 'bob@example.org']
    expect(await desk.run(login, { input: ann.password })).toMatchObject({ code: 0 })
    expect(await latchkey(['tokens'])).toMatchObject({ code: 3, stdout: '' })
  })
})
