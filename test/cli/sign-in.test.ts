import { readFile, stat, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { approveAfter, problem, session, startControlServer } from '../support/control-server.js'
import { openDesk } from '../support/tool.js'

async function start() {
  const [desk, server] = await Promise.all([openDesk(), startControlServer()])
  return { desk, server }
}

describe('sign-in by device approval', () => {
  test('prints the address and the code, waits for the approval, and saves the session', async () => {
    const { desk, server } = await start()
    approveAfter(server, 1)
    const { code, stdout, stderr } = await desk.run(['login', server.url])
    expect(stderr).toContain(
      `To sign in, open   ${server.url}/auth/admin/device\n` +
        'and type the code  QX7K-M2FD      (valid for 10 minutes, Ctrl-C cancels)\n',
    )
    expect(stdout).toBe(`Signed in to ${server.url} as ann@example.org\n`)
    expect(code).toBe(0)
    expect(await desk.saved()).toEqual({
      [server.api]: {
        email: 'ann@example.org',
        accessToken: 'access-2',
        accessTokenExpiresAt: '2999-01-01T00:00:00.000Z',
        refreshToken: 'refresh-2',
      },
    })
    expect((await stat(desk.credentials)).mode & 0o777).toBe(0o600)
    expect((await stat(dirname(desk.credentials))).mode & 0o777).toBe(0o700)
  })

  test('ATK-138 the verifier leaves the process only to claim the approval, and the answer has a challenge of it', async () => {
    const { desk, server } = await start()
    approveAfter(server, 1)
    const { stdout, stderr } = await desk.run(['login', server.url])
    const [asked] = server.to('POST /device')
    expect(asked?.body).toEqual({ challenge: expect.stringMatching(/^[\w-]{43}$/), client: hostname() })
    expect(asked?.headers).toMatchObject({ 'x-auth-mode': 'token', 'user-agent': expect.stringMatching(/^latchkey\//) })
    expect(asked?.headers.authorization).toBeUndefined()
    const verifiers = server.to('POST /device/token').map(({ body }) => String(body.verifier))
    expect(new Set(verifiers).size).toBe(1)
    expect(stdout + stderr + JSON.stringify(await desk.saved())).not.toContain(verifiers[0])
  })

  test('ATK-137 the printed address carries no code, even when the server sends one', async () => {
    const { desk, server } = await start()
    approveAfter(server, 0)
    const url = `${server.url}/auth/admin/device?code=QX7K-M2FD#QX7K-M2FD`
    const asked = { handle: 'handle-1', userCode: 'QX7K-M2FD', url, interval: 1, expiresAt: '2999-01-01T00:00:00.000Z' }
    server.answer('POST /device', { status: 201, body: asked })
    const { stderr } = await desk.run(['login', server.url])
    expect(stderr.split('\n')[0]).toBe(`To sign in, open   ${server.url}/auth/admin/device`)
  })

  test('writes latchkey.json without a secret, which other commands then find', async () => {
    const { desk, server } = await start()
    approveAfter(server, 0)
    await desk.run(['login', server.url])
    expect(JSON.parse(await readFile(join(desk.folder, 'latchkey.json'), 'utf8'))).toEqual({ url: server.url })
    expect(await desk.run(['whoami'])).toMatchObject({
      code: 0,
      stdout: `ann@example.org, ADMIN of ${server.url}\n`,
    })
  })

  test('writes no latchkey.json beside a settings module, which the commands there go on using', async () => {
    const { desk, server } = await start()
    approveAfter(server, 0)
    await writeFile(join(desk.folder, 'latchkey.config.mjs'), 'export default {}')
    const login = await desk.run(['login', server.url])
    expect(login).toMatchObject({ code: 0, stderr: expect.stringContaining(`--url ${server.url}`) })
    await expect(stat(join(desk.folder, 'latchkey.json'))).rejects.toThrow('ENOENT')
    expect(await desk.run(['whoami', '--url', server.url])).toMatchObject({ code: 0 })
    expect((await desk.run(['tokens'])).stderr).toContain('JWT_ACCESS_TOKEN_SECRET')
  })

  test('a denied or expired request is exit 1', async () => {
    const { desk, server } = await start()
    approveAfter(server, 9)
    server.answer('POST /device/token', problem(400, 'invalid_token'))
    const { code, stderr } = await desk.run(['login', server.url])
    expect(stderr).toContain('The sign-in was denied, or its code expired.')
    expect(code).toBe(1)
    await expect(stat(desk.credentials)).rejects.toThrow('ENOENT')
  })

  test('ATK-141 after 429 it waits as long as the server says, and goes on', async () => {
    const { desk, server } = await start()
    approveAfter(server, 0)
    let refused = 0
    server.answer('POST /device/token', () => {
      if (refused === 1) return { body: session(2) }
      refused += 1
      return {
        ...problem(429, 'rate_limited'),
        headers: { 'retry-after': '1', 'content-type': 'application/problem+json' },
      }
    })
    expect(await desk.run(['login', server.url])).toMatchObject({ code: 0 })
  })

  test('an application without a control API is exit 4', async () => {
    const { desk, server } = await start()
    server.answer('POST /device', problem(404, 'not_found'))
    const { code, stderr } = await desk.run(['login', server.url])
    expect(stderr).toContain('has no control API. Set admin.emails')
    expect(code).toBe(4)
  })

  test('a new sign-in ends the session that it replaces', async () => {
    const { desk, server } = await start()
    await desk.signIn(server.api)
    approveAfter(server, 0)
    await desk.run(['login', server.url])
    expect(server.to('POST /auth/logout')).toMatchObject([{ body: { refreshToken: 'refresh-1' } }])
    expect(await desk.saved()).toMatchObject({ [server.api]: { refreshToken: 'refresh-2' } })
  })

  test('on a terminal a stale sign-in is approved again, and the command goes on', async () => {
    const { desk, server } = await start()
    await desk.signIn(server.api)
    approveAfter(server, 0)
    server.answer('DELETE /tokens/token-1', ({ headers }) =>
      headers.authorization === 'Bearer access-1' ? problem(403, 'recent_login_required') : { status: 204 },
    )
    const { code, screen } = await desk.type(['--url', server.url, 'remove-token', 'token-1'], [])
    expect(screen).toContain('This needs a recent sign-in.')
    expect(screen).toContain('QX7K-M2FD')
    expect(screen).toContain('Token removed.')
    expect(code).toBe(0)
    expect(await desk.saved()).toMatchObject({ [server.api]: { accessToken: 'access-2' } })
  })

  test('Ctrl-C while it waits is exit 130, and nothing is saved', async () => {
    const { desk, server } = await start()
    approveAfter(server, 99)
    const { code } = await desk.type(['login', server.url], [[/Waiting for the approval/, '\u0003']])
    expect(code).toBe(130)
    await expect(stat(desk.credentials)).rejects.toThrow('ENOENT')
  })

  test('without a terminal a stale sign-in is exit 3, with the command that helps', async () => {
    const { desk, server } = await start()
    await desk.signIn(server.api)
    server.answer('DELETE /tokens/token-1', problem(403, 'recent_login_required'))
    const { code, stderr } = await desk.run(['--url', server.url, 'remove-token', 'token-1'])
    expect(stderr).toContain(`Run: latchkey login ${server.url}`)
    expect(code).toBe(3)
    expect(server.to('POST /device')).toEqual([])
  })
})

describe('sign-in by password', () => {
  const login = ['login', '--password', '-', '--email', 'ann@example.org']

  test('reads the password from stdin, less one newline', async () => {
    const { desk, server } = await start()
    server.answer('POST /auth/login', { body: session(2) })
    const { code, stdout } = await desk.run([...login, server.url], { input: 'a difference engine \n\n' })
    expect(stdout).toBe(`Signed in to ${server.url} as ann@example.org\n`)
    expect(code).toBe(0)
    const [{ body, headers } = { body: {}, headers: {} }] = server.to('POST /auth/login')
    expect(body).toEqual({ email: 'ann@example.org', password: 'a difference engine \n' })
    expect(headers).toMatchObject({ 'x-auth-mode': 'token' })
  })

  test('asks for address, password and code on a terminal, and shows neither secret', async () => {
    const { desk, server } = await start()
    server.answer('POST /auth/login', { body: { status: 'two_factor_required', challenge: 'c1', methods: ['totp'] } })
    server.answer('POST /auth/login/two-factor', ({ body }) =>
      body.code === '081424' ? { body: session(2) } : problem(401, 'invalid_code'),
    )
    const { code, screen } = await desk.type(
      ['login', '--password', server.url],
      [
        [/Type your email address at/, 'ann@example.org\r'],
        [/Type your password/, 'brass-and-steam\r'],
        [/Type the code of your second factor/, '111111\r'],
        [/invalid_code[\s\S]*Type the code of your second factor/, '081424\r'],
      ],
    )
    expect(code).toBe(0)
    expect(screen).toContain('Signed in to')
    expect(screen).not.toContain('brass-and-steam')
    expect(screen).not.toContain('081424')
    expect(server.to('POST /auth/login')).toMatchObject([{ body: { password: 'brass-and-steam' } }])
  })

  test('a password on the command line works, and warns about the history of the shell', async () => {
    const { desk, server } = await start()
    server.answer('POST /auth/login', { body: session(2) })
    const args = ['login', server.url, '--password', 'brass-and-steam', '--email', 'ann@example.org']
    const { code, stderr } = await desk.run(args)
    expect(stderr.match(/warning: your shell keeps --password in its history/g)).toHaveLength(1)
    expect(stderr).not.toContain('brass')
    expect(code).toBe(0)
  })

  test('without a terminal it names the options that answer', async () => {
    const { desk, server } = await start()
    const noAddress = await desk.run(['login', '--password', server.url])
    expect(noAddress).toMatchObject({ code: 2, stdout: '' })
    expect(noAddress.stderr).toContain('--email <address>')
    const noPassword = await desk.run(['login', '--password', server.url, '--email', 'ann@example.org'])
    expect(noPassword).toMatchObject({ code: 2 })
    expect(noPassword.stderr).toContain('error: Type your password. Answer with --password -')
    expect(server.seen).toEqual([])
  })

  test('a wrong password is exit 3, and nothing is saved', async () => {
    const { desk, server } = await start()
    server.answer('POST /auth/login', problem(401, 'invalid_credentials'))
    expect(await desk.run([...login, server.url], { input: 'wrong' })).toMatchObject({ code: 3, stdout: '' })
    await expect(stat(desk.credentials)).rejects.toThrow('ENOENT')
  })

  test('cancelling a question is exit 130, and nothing is sent', async () => {
    const { desk, server } = await start()
    const { code } = await desk.type(['login', '--password', server.url], [[/Type your email address at/, '\u0003']])
    expect(code).toBe(130)
    expect(server.seen).toEqual([])
  })
})

describe('the saved sign-in', () => {
  test('an expired access token is refreshed in token mode first, and the new tokens are saved', async () => {
    const { desk, server } = await start()
    await desk.signIn(server.api, { accessToken: 'old', accessTokenExpiresAt: '2020-01-01T00:00:00.000Z' })
    expect(await desk.run(['--url', server.url, 'tokens'])).toMatchObject({ code: 0 })
    const [refresh] = server.to('POST /auth/refresh')
    expect(refresh?.body).toEqual({ refreshToken: 'refresh-1' })
    expect(refresh?.headers).toMatchObject({ 'x-auth-mode': 'token' })
    expect(refresh?.headers.authorization).toBeUndefined()
    expect(server.to('GET /tokens')).toMatchObject([{ headers: { authorization: 'Bearer access-2' } }])
    expect(await desk.saved()).toMatchObject({ [server.api]: { accessToken: 'access-2', refreshToken: 'refresh-2' } })
  })

  test('a refused access token is refreshed once, and the refresh token stays when the server sends none', async () => {
    const { desk, server } = await start()
    await desk.signIn(server.api, { accessToken: 'refused' })
    const { refreshToken: _same, ...onlyAccess } = session(2)
    server.answer('POST /auth/refresh', { body: onlyAccess })
    expect(await desk.run(['--url', server.url, 'tokens'])).toMatchObject({ code: 0 })
    expect(await desk.saved()).toMatchObject({ [server.api]: { accessToken: 'access-2', refreshToken: 'refresh-1' } })

    server.valid.clear()
    expect(await desk.run(['--url', server.url, 'tokens'])).toMatchObject({ code: 3 })
    expect(server.to('POST /auth/refresh')).toHaveLength(2)
  })

  test('a session that has ended is exit 3, with the command that helps', async () => {
    const { desk, server } = await start()
    await desk.signIn(server.api, { accessToken: 'refused' })
    server.answer('POST /auth/refresh', problem(401, 'token_revoked'))
    const { code, stderr } = await desk.run(['--url', server.url, 'tokens'])
    expect(stderr).toContain(`has ended. Run: latchkey login ${server.url}`)
    expect(code).toBe(3)
  })

  test('without one, exit 3 names login and --config, and nothing is sent', async () => {
    const { desk, server } = await start()
    const { code, stderr } = await desk.run(['--url', server.url, 'tokens'])
    expect(stderr).toContain(`Run: latchkey login ${server.url}`)
    expect(stderr).toContain('--config')
    expect(code).toBe(3)
    expect(server.seen).toEqual([])
  })

  test('no right is exit 3', async () => {
    const { desk, server } = await start()
    await desk.signIn(server.api)
    server.answer('GET /tokens', problem(403, 'forbidden'))
    expect(await desk.run(['--url', server.url, 'tokens'])).toMatchObject({ code: 3, stdout: '' })
  })

  test('logout ends the session and forgets it', async () => {
    const { desk, server } = await start()
    await desk.signIn(server.api)
    expect(await desk.run(['logout', server.url])).toMatchObject({ code: 0, stdout: `Signed out of ${server.url}\n` })
    expect(server.to('POST /auth/logout')).toMatchObject([{ body: { refreshToken: 'refresh-1' } }])
    expect(await desk.saved()).toEqual({})
    expect(await desk.run(['logout', server.url])).toMatchObject({ code: 3 })
  })

  test('logout forgets the session also when the server fails, and says so with exit 6', async () => {
    const { desk, server } = await start()
    await desk.signIn(server.api)
    server.answer('POST /auth/logout', problem(503, 'store_unavailable'))
    expect(await desk.run(['logout', server.url])).toMatchObject({ code: 6 })
    expect(await desk.saved()).toEqual({})
  })

  test('ATK-146 of two tools at once one refreshes and both go on', async () => {
    const { desk, server } = await start()
    await desk.signIn(server.api, { accessToken: 'old', accessTokenExpiresAt: '2020-01-01T00:00:00.000Z' })
    const tools = Array.from({ length: 4 }, () => desk.run(['--url', server.url, 'tokens']))
    expect((await Promise.all(tools)).map(({ code }) => code)).toEqual([0, 0, 0, 0])
    expect(server.to('POST /auth/refresh')).toHaveLength(1)
    expect(await desk.saved()).toMatchObject({ [server.api]: { refreshToken: 'refresh-2' } })
  })
})
