import { readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { access, type ControlServer, problem, startControlServer, user } from '../support/control-server.js'
import { type Desk, openDesk } from '../support/tool.js'

async function signedIn(): Promise<{ desk: Desk; server: ControlServer; latchkey: Desk['run'] }> {
  const [desk, server] = await Promise.all([openDesk(), startControlServer()])
  await desk.signIn(server.api)
  return { desk, server, latchkey: (args, options) => desk.run(['--url', server.url, ...args], options) }
}

const created = '6f0e1b52-3c4d-4e5f-8a9b-0c1d2e3f4a5b'

describe('API tokens', () => {
  test('add-token prints the token and its access once, and the target before it', async () => {
    const { server, latchkey } = await signedIn()
    const { code, stdout, stderr } = await latchkey(['add-token', '--readonly'])
    expect(stdout).toBe(`Created new token ${created} with access READ\n`)
    expect(stderr).toBe(
      `remote ${server.url} as ann@example.org\n` +
        'Keep it now, it is not shown again. Use it server side only, never in a web page.\n',
    )
    expect(code).toBe(0)
    expect(server.to('POST /tokens')).toMatchObject([{ body: { access: 'READ' } }])
  })

  test('add-token sends name, end and networks, and without --readonly READWRITE', async () => {
    const { server, latchkey } = await signedIn()
    const before = Date.now()
    await latchkey([
      'add-token',
      '--name',
      'ci',
      '--expires',
      '90d',
      '--cidr',
      '192.0.2.0/24',
      '--cidr',
      '2001:db8::/32',
    ])
    const body = server.to('POST /tokens')[0]?.body ?? {}
    expect(body).toMatchObject({ name: 'ci', access: 'READWRITE', cidrs: ['192.0.2.0/24', '2001:db8::/32'] })
    const end = Date.parse(String(body.expiresAt)) - 90 * 86_400_000
    expect(end).toBeGreaterThanOrEqual(before)
    expect(end).toBeLessThanOrEqual(Date.now())
  })

  test.each(['90', 'tomorrow', '-1d', ''])('--expires %j is a usage error, and nothing is sent', async (time) => {
    const { server, latchkey } = await signedIn()
    const { code, stderr } = await latchkey(['add-token', `--expires=${time}`])
    expect(stderr).toContain('--expires takes a time such as 90d')
    expect(code).toBe(2)
    expect(server.seen).toEqual([])
  })

  test('tokens prints a table', async () => {
    const { latchkey } = await signedIn()
    const { stdout, stderr } = await latchkey(['tokens'])
    expect(stdout).toBe(
      'ID       NAME            ACCESS  NETWORKS  EXPIRES  LAST USE\n' +
        'token-1  nightly report  READ    all       never    2026-11-01T10:20Z\n',
    )
    expect(stderr).toBe('')
  })

  test('remove-token and rotate-token', async () => {
    const { server, latchkey } = await signedIn()
    const removed = await latchkey(['remove-token', 'token-1'])
    expect(removed.stdout).toBe("Token removed. Use 'latchkey tokens' to see all tokens.\n")
    const rotated = await latchkey(['rotate-token', 'token-1', '--overlap', '1d'])
    expect(rotated.stdout).toBe('Created new token 7f0e1b52-3c4d-4e5f-8a9b-0c1d2e3f4a5b with access READ\n')
    expect(server.to('POST /tokens/token-1/rotate')).toMatchObject([{ body: { overlap: '1d' } }])
  })

  test('a token that is gone is exit 1', async () => {
    const { latchkey } = await signedIn()
    expect(await latchkey(['remove-token', 'gone'])).toMatchObject({ code: 1, stdout: '' })
  })
})

describe('jwks', () => {
  const url = 'https://tenant.example.com/.well-known/jwks.json'

  test('checks the URL, sets it, and prints its keys', async () => {
    const { server, latchkey } = await signedIn()
    const { stdout } = await latchkey(['jwks', url])
    expect(stdout).toBe('Set JWKS url for this application\n2 keys: RS256 k1, RS256 k2\n')
    expect(server.seen.map(({ route, body }) => [route, body])).toEqual([
      ['GET /', {}],
      ['POST /access/jwks/check', { url }],
      ['POST /access/jwks', { url }],
    ])
  })

  test('a URL that fails the check is not set, unless --no-check', async () => {
    const { server, latchkey } = await signedIn()
    server.answer('POST /access/jwks/check', { body: { ok: false, keys: [], fault: 'not_a_key_set' } })
    const refused = await latchkey(['jwks', url])
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toContain('the answer is no JSON Web Key Set')
    expect(server.to('POST /access/jwks')).toEqual([])
    expect(await latchkey(['jwks', url, '--no-check'])).toMatchObject({ code: 0 })
    expect(server.to('POST /access/jwks')).toHaveLength(1)
  })

  test.each([[['jwks', '']], [['jwks', '--remove']]])('%j removes it', async (args) => {
    const { server, latchkey } = await signedIn()
    expect(await latchkey(args)).toMatchObject({ code: 0, stdout: 'Removed JWKS url for this application\n' })
    expect(server.to('POST /access/jwks')).toMatchObject([{ body: { url: null } }])
  })

  test('without a URL it prints the one in force, and changes nothing', async () => {
    const { server, latchkey } = await signedIn()
    expect((await latchkey(['jwks'])).stdout).toBe('No JWKS url is set.\n')
    server.answer('GET /access', { body: { ...access, jwksUrl: url } })
    expect((await latchkey(['jwks'])).stdout).toBe(`${url}\n`)
    expect(server.seen.map(({ route }) => route)).toEqual(['GET /', 'GET /access', 'GET /', 'GET /access'])
  })
})

describe('whitelist', () => {
  const ip = '203.0.113.7'
  const others = { ...access, allowList: { fixed: [], added: ['198.51.100.4'] } }

  test('adds an address', async () => {
    const { server, latchkey } = await signedIn()
    server.answer('GET /access', { body: others })
    const { stdout } = await latchkey(['whitelist', ip])
    expect(stdout).toBe(`IP ${ip} added to whitelist. Use 'latchkey info' to see all IP addresses.\n`)
    expect(server.to('POST /access/networks')).toMatchObject([{ body: { network: ip } }])
  })

  test('without a terminal the first entry is a usage error that names the option', async () => {
    const { server, latchkey } = await signedIn()
    const { code, stderr } = await latchkey(['whitelist', ip, '--yes'])
    expect(stderr).toContain(
      `From now on only ${ip} may use the API. Your own address 198.51.100.4 is not on the list.`,
    )
    expect(stderr).toContain('--confirm 198.51.100.4')
    expect(code).toBe(2)
    expect(server.to('POST /access/networks')).toEqual([])
  })

  test('the first entry is added when --confirm names the own address', async () => {
    const { server, latchkey } = await signedIn()
    expect(await latchkey(['whitelist', ip, '--confirm', '198.51.100.4'])).toMatchObject({ code: 0 })
    const body = { network: ip, force: true, confirm: '198.51.100.4' }
    expect(server.to('POST /access/networks')).toMatchObject([{ body }])
  })

  test('a first entry that contains the own address needs only yes', async () => {
    const { server, latchkey } = await signedIn()
    expect(await latchkey(['whitelist', '198.51.100.0/24'])).toMatchObject({ code: 2 })
    expect(await latchkey(['whitelist', '198.51.100.0/24', '--yes'])).toMatchObject({ code: 0 })
    expect(server.to('POST /access/networks')).toHaveLength(1)
  })

  test('what would lock the caller out is refused with the way to confirm it', async () => {
    const { server, latchkey } = await signedIn()
    server.answer('GET /access', { body: { ...access, allowList: { fixed: [], added: [ip, '198.51.100.4'] } } })
    server.answer('DELETE /access/networks', ({ body }) =>
      body.force === true ? { status: 204 } : problem(409, 'would_lock_out'),
    )
    const refused = await latchkey(['whitelist-remove', '198.51.100.4'])
    expect(refused).toMatchObject({ code: 2 })
    expect(refused.stderr).toContain('--confirm 198.51.100.4')
    const forced = await latchkey(['whitelist-remove', '198.51.100.4', '--force', '--confirm', '198.51.100.4'])
    expect(forced.stdout).toContain('IP 198.51.100.4 removed from whitelist.')
  })

  test('who is excluded learns that local mode can change the list', async () => {
    const { server, latchkey } = await signedIn()
    server.answer('GET /access', problem(403, 'ip_not_allowed'))
    const refused = await latchkey(['whitelist'])
    expect(refused.code).toBe(3)
    expect(refused.stderr).toContain('latchkey whitelist-remove <ip> --config latchkey.config.js')
  })

  test('the last entry goes only when --confirm says everyone', async () => {
    const { server, latchkey } = await signedIn()
    server.answer('GET /access', { body: others })
    expect(await latchkey(['whitelist-remove', '198.51.100.4', '--yes'])).toMatchObject({ code: 2 })
    expect(await latchkey(['whitelist-remove', '198.51.100.4', '--confirm', 'all'])).toMatchObject({ code: 2 })
    expect(server.to('DELETE /access/networks')).toEqual([])
    expect(await latchkey(['whitelist-remove', '198.51.100.4', '--confirm', 'everyone'])).toMatchObject({ code: 0 })
    expect(server.to('DELETE /access/networks')).toMatchObject([{ body: { confirm: 'everyone' } }])
  })

  test('info prints home, tokens, list and JWKS, and --examples the curl lines', async () => {
    const { server, latchkey } = await signedIn()
    const { stdout } = await latchkey(['info', '--examples'])
    expect(stdout).toContain('Home       application, latchkey 0.2.0\n')
    expect(stdout).toContain(`URL        ${server.url}\n`)
    expect(stdout).toContain('********  READ  nightly report  (token-1)')
    expect(stdout).toContain('every IP address may use the API')
    expect(stdout).toContain(`curl -H 'x-apikey: <API_KEY>' '${server.url}/<route>'`)
    expect((await latchkey(['info'])).stdout).not.toContain('curl')
  })
})

describe('users', () => {
  test('lists accounts', async () => {
    const { server, latchkey } = await signedIn()
    const { stdout } = await latchkey(['users', '--query', 'ann', '--role', 'ADMIN', '--limit', '7'])
    expect(stdout).toContain('user-1  ann@example.org  Ann   ADMIN  enabled  2026-11-01T10:20Z')
    expect(Object.fromEntries(server.seen[0]?.query ?? [])).toEqual({ query: 'ann', role: 'ADMIN', limit: '7' })
  })

  test('says how to see the next page', async () => {
    const { server, latchkey } = await signedIn()
    server.answer('GET /users', { body: { items: [user], nextCursor: 'c1' } })
    expect((await latchkey(['users'])).stderr).toBe('There is more. Add: --cursor c1\n')
    await latchkey(['users', '--cursor', 'c1'])
    expect(server.seen.at(-1)?.query.get('cursor')).toBe('c1')
  })

  test('shows an account by address and by id', async () => {
    const { latchkey } = await signedIn()
    const byAddress = await latchkey(['users', 'show', 'Ann@Example.org'])
    const byId = await latchkey(['users', 'show', 'user-1'])
    expect(byAddress.stdout).toMatch(/^Id +user-1$/m)
    expect(byAddress.stdout).toContain('Firefox on Linux')
    expect(byId.stdout).toBe(byAddress.stdout)
    expect(await latchkey(['users', 'show', 'bob@example.org'])).toMatchObject({ code: 1 })
    expect(await latchkey(['users', 'show', 'user-7'])).toMatchObject({ code: 1 })
  })

  test.each([
    [['create', 'new@example.org', '--name', 'New', '--role', 'A', '--role', 'B'], 'POST /users'],
    [['create', 'new@example.org', '--no-invite'], 'POST /users'],
    [['disable', 'ann@example.org', '--reason', 'chargeback', '--until', '2030-01-31'], 'POST /users/user-1/disable'],
    [['enable', 'ann@example.org'], 'POST /users/user-1/enable'],
    [['delete', 'ann@example.org', '--confirm', 'ann@example.org'], 'DELETE /users/user-1'],
    [['reset-password', 'ann@example.org', '--yes'], 'POST /users/user-1/reset-password'],
    [['end-sessions', 'ann@example.org'], 'DELETE /users/user-1/sessions'],
    [['remove-two-factor', 'ann@example.org', '--yes'], 'DELETE /users/user-1/two-factor'],
  ])('users %j calls %s', async (args, route) => {
    const { server, latchkey } = await signedIn()
    const { code, stderr } = await latchkey(['users', ...args])
    expect(stderr).toBe(`remote ${server.url} as ann@example.org\n`)
    expect(code).toBe(0)
    expect(server.to(route)).toHaveLength(1)
    expect(server.to(route)[0]?.body).toEqual(bodies[args.join(' ')] ?? {})
  })

  const bodies: Readonly<Record<string, object>> = {
    'create new@example.org --name New --role A --role B': {
      email: 'new@example.org',
      name: 'New',
      roles: ['A', 'B'],
      invite: true,
    },
    'create new@example.org --no-invite': { email: 'new@example.org', invite: false },
    'disable ann@example.org --reason chargeback --until 2030-01-31': {
      reason: 'chargeback',
      until: '2030-01-31T00:00:00.000Z',
    },
    'delete ann@example.org --confirm ann@example.org': { confirm: 'ann@example.org' },
  }

  test.each([
    [['disable', 'ann@example.org'], '--reason <text>'],
    [['delete', 'ann@example.org', '--yes'], '--confirm ann@example.org'],
    [['reset-password', 'ann@example.org'], '--yes'],
    [['remove-two-factor', 'ann@example.org'], '--yes'],
  ])('users %j without a terminal is a usage error that names %s', async (args, option) => {
    const { server, latchkey } = await signedIn()
    const { code, stderr } = await latchkey(['users', ...args])
    expect(stderr).toContain(option)
    expect(code).toBe(2)
    expect(server.seen.filter(({ route }) => !route.startsWith('GET'))).toEqual([])
  })

  test('an id with slashes and dots stays one segment of the path', async () => {
    const { server, latchkey } = await signedIn()
    await latchkey(['users', 'show', '../../../settings?x#y'])
    expect(server.seen.map(({ route }) => route)).toEqual(['GET /users/..%2F..%2F..%2Fsettings%3Fx%23y'])
    for (const id of ['..', '.']) expect(await latchkey(['remove-token', id])).toMatchObject({ code: 2 })
    expect(server.seen).toHaveLength(1)
  })
})

describe('sessions, mail and the audit log', () => {
  test('sessions lists all, or those of a user, and ends one', async () => {
    const { server, latchkey } = await signedIn()
    expect((await latchkey(['sessions'])).stdout).toContain('session-9  user-1  Firefox on Linux')
    expect((await latchkey(['sessions', 'user-1'])).stdout).toContain('session-9  ann@example.org  Firefox on Linux')
    expect(await latchkey(['sessions', 'end', 'session-9'])).toMatchObject({ code: 0 })
    expect(server.to('DELETE /sessions/session-9')).toHaveLength(1)
  })

  test('mail lists, retries and drops', async () => {
    const { server, latchkey } = await signedIn()
    expect((await latchkey(['mail'])).stdout).toContain('mail-1  reset-password  example.org  waiting  2')
    expect(await latchkey(['mail', 'retry', 'mail-1'])).toMatchObject({ code: 0 })
    expect(await latchkey(['mail', 'drop', 'mail-1'])).toMatchObject({ code: 2 })
    expect(server.to('DELETE /mail/mail-1')).toEqual([])
    expect(await latchkey(['mail', 'drop', 'mail-1', '--yes'])).toMatchObject({ code: 0 })
    expect(server.to('DELETE /mail/mail-1')).toHaveLength(1)
  })

  test('audit lists events by filter', async () => {
    const { server, latchkey } = await signedIn()
    const args = [
      'audit',
      '--user',
      'ann@example.org',
      '--event',
      'login',
      '--actor',
      'user-1',
      '--since',
      '2026-11-01',
    ]
    expect((await latchkey(args)).stdout).toContain('2026-11-01T10:20Z  login  success  user-1  user-1')
    expect(Object.fromEntries(server.to('GET /audit')[0]?.query ?? [])).toEqual({
      userId: 'user-1',
      event: 'login',
      actor: 'user-1',
      from: '2026-11-01T00:00:00.000Z',
      limit: '50',
    })
  })

  test('audit verify prints that the log is unbroken, or the first broken event with exit 1', async () => {
    const { server, latchkey } = await signedIn()
    expect(await latchkey(['audit', 'verify'])).toMatchObject({ code: 0, stdout: 'The audit log is unbroken.\n' })
    server.answer('POST /audit/verify', { body: { ok: false, brokenAt: 'event-3' } })
    const broken = await latchkey(['audit', 'verify'])
    expect(broken).toMatchObject({ code: 1, stdout: '' })
    expect(broken.stderr).toContain('event-3')
  })

  test('ATK-145 audit export writes all pages to a new file of mode 0600, and replaces none without --force', async () => {
    const { desk, server, latchkey } = await signedIn()
    const path = join(desk.folder, 'audit.jsonl')
    expect((await latchkey(['audit', 'export', '-f', 'audit.jsonl'])).stdout).toBe('Exported 2 events to audit.jsonl\n')
    const ids = (text: string) =>
      text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).id)
    expect(ids(await readFile(path, 'utf8'))).toEqual(['event-1', 'event-2'])
    expect((await stat(path)).mode & 0o777).toBe(0o600)

    const other = join(desk.folder, 'other.txt')
    await writeFile(other, 'mine')
    await symlink(other, join(desk.folder, 'link.jsonl'))
    for (const name of ['audit.jsonl', 'link.jsonl']) {
      server.seen.length = 0
      expect(await latchkey(['audit', 'export', '-f', name])).toMatchObject({ code: 2 })
    }
    expect(await latchkey(['audit', 'export', '-f', 'link.jsonl', '--force'])).toMatchObject({ code: 0 })
    expect(await readFile(other, 'utf8')).toBe('mine')
    const { stdout } = await latchkey(['audit', 'export', '-f', '-'])
    expect(ids(stdout)).toEqual(['event-1', 'event-2'])
  })

  test('audit export keeps what a newer release has written', async () => {
    const { server, latchkey } = await signedIn()
    const line = JSON.parse((await latchkey(['audit', 'export', '-f', '-'])).stdout.split('\n')[0] ?? '')
    const newer = { ...line, event: 'quantum_login', actor: { kind: 'robot', serial: 7 }, region: 'eu' }
    server.answer('GET /audit.jsonl', { body: `${JSON.stringify(newer)}\n` })
    expect(JSON.parse((await latchkey(['audit', 'export', '-f', '-'])).stdout)).toEqual(newer)
  })

  test('audit export sends the same filters', async () => {
    const { server, latchkey } = await signedIn()
    const filter = ['--user', 'user-1', '--event', 'login', '--actor', 'user-2', '--since', '2026-11-01']
    expect(await latchkey(['audit', 'export', '-f', '-', ...filter])).toMatchObject({ code: 0 })
    const sent = { userId: 'user-1', event: 'login', actor: 'user-2', from: '2026-11-01T00:00:00.000Z' }
    const queries = server.to('GET /audit.jsonl').map(({ query }) => Object.fromEntries(query))
    expect(queries).toEqual([sent, { ...sent, cursor: 'more' }])
  })

  test('an export that breaks off leaves no file', async () => {
    const { desk, server, latchkey } = await signedIn()
    server.answer('GET /audit.jsonl', { body: 'no JSON\n' })
    expect(await latchkey(['audit', 'export', '-f', 'audit.jsonl'])).toMatchObject({ code: 5 })
    await expect(stat(join(desk.folder, 'audit.jsonl'))).rejects.toThrow('ENOENT')
    await expect(stat(join(desk.folder, 'audit.jsonl.part'))).rejects.toThrow('ENOENT')
  })
})

describe('--json', () => {
  test('prints one JSON value and nothing on stderr', async () => {
    const { latchkey } = await signedIn()
    const { code, stdout, stderr } = await latchkey(['add-token', '--json'])
    expect(JSON.parse(stdout)).toMatchObject({ token: created, access: 'READWRITE' })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(JSON.parse((await latchkey(['tokens', '--json'])).stdout)).toMatchObject({ items: [{ id: 'token-1' }] })
    expect(JSON.parse((await latchkey(['whoami', '--json'])).stdout)).toMatchObject({ user: { right: 'ADMIN' } })
  })

  test('prints errors as problem details on stderr', async () => {
    const { latchkey } = await signedIn()
    const gone = await latchkey(['remove-token', 'gone', '--json'])
    expect(gone.stdout).toBe('')
    expect(JSON.parse(gone.stderr)).toMatchObject({ status: 404, code: 'not_found', exitCode: 1 })
    const usage = await latchkey(['tokns', '--json'])
    expect(JSON.parse(usage.stderr)).toMatchObject({ code: 'usage', exitCode: 2 })
  })
})
