import { chmod, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { approveAfter, problem, startControlServer, token } from '../support/control-server.js'
import { openDesk } from '../support/tool.js'

async function start() {
  const [desk, server] = await Promise.all([openDesk(), startControlServer()])
  await desk.signIn(server.api)
  return { desk, server, latchkey: (...args: string[]) => desk.run(['--url', server.url, ...args]) }
}

describe('ATK-142 a hostile server', () => {
  const text = '\u001b[2J\u009b31m\u202ename\u0007\r\nforged line'
  /** Any control or format character but the line feed. */
  const control = /(?!\n)[\p{Cc}\p{Cf}]/u
  const escaped = '\\x1b[2J\\x9b31m\\u{202e}name\\x07\\x0d\\x0aforged line'

  test('prints no control character, in tables, lines and errors', async () => {
    const { server, latchkey } = await start()
    server.answer('GET /tokens', { body: { items: [{ ...token, name: text }], nextCursor: text } })
    server.answer('DELETE /tokens/token-1', problem(409, 'conflict', { detail: text }))
    const table = await latchkey('tokens')
    expect(table.stdout).toContain(escaped)
    expect(table.stderr).toContain(escaped)
    const refused = await latchkey('remove-token', 'token-1')
    expect(refused.stderr).toContain(escaped)
    for (const printed of [table.stdout, table.stderr, refused.stderr]) expect(printed).not.toMatch(control)
  })

  test('prints no control character in JSON, which keeps the text', async () => {
    const { server, latchkey } = await start()
    server.answer('GET /tokens', { body: { items: [{ ...token, name: text }], nextCursor: null } })
    const { stdout } = await latchkey('tokens', '--json')
    expect(stdout).not.toMatch(control)
    expect(JSON.parse(stdout).items[0].name).toBe(text)
  })

  test('prints no control character of the code and the address of a sign-in', async () => {
    const { desk, server } = await start()
    approveAfter(server, 0)
    const asked = { handle: 'h', url: `${server.url}/x`, interval: 1, expiresAt: '2999-01-01T00:00:00.000Z' }
    server.answer('POST /device', { status: 201, body: { ...asked, userCode: text } })
    server.answer('POST /device/token', problem(400, 'invalid_token'))
    expect((await desk.run(['login', server.url])).stderr).toContain(escaped)
    for (const url of ['javascript:alert(1)', 'http://example.com/x', `${server.url}/\u001b[2J`]) {
      server.answer('POST /device', { status: 201, body: { ...asked, userCode: 'QX7K-M2FD', url } })
      expect(await desk.run(['login', server.url])).toMatchObject({ code: 5, stdout: '' })
    }
  })

  test('a redirect is not followed, and the credential stays', async () => {
    const { server, latchkey } = await start()
    const elsewhere = await startControlServer()
    for (const status of [301, 302, 303, 307, 308]) {
      server.answer('GET /tokens', { status, headers: { location: `${elsewhere.api}/tokens` } })
      const { code, stderr } = await latchkey('tokens')
      expect(stderr).toContain('redirect')
      expect(code).toBe(5)
    }
    server.valid.clear()
    server.answer('POST /auth/refresh', { status: 307, headers: { location: `${elsewhere.url}/auth/refresh` } })
    expect(await latchkey('tokens')).toMatchObject({ code: 5 })
    expect(elsewhere.seen).toEqual([])
  })

  test('an answer without end is cut off', async () => {
    const { server, latchkey } = await start()
    server.answer('GET /tokens', (_seen, response) => {
      const more = () => {
        if (!response.destroyed) response.write('x'.repeat(65_536), more)
      }
      response.writeHead(200, { 'content-type': 'application/json' })
      more()
      return null
    })
    const { code, stderr } = await latchkey('tokens')
    expect(stderr).toContain('more than 8 MiB')
    expect(code).toBe(5)
  })

  test.each([
    ['HTML', { body: '<html>nginx</html>', headers: { 'content-type': 'text/html' } }],
    ['HTML with an error', { status: 500, body: '<html>', headers: { 'content-type': 'text/html' } }],
    ['no JSON', { body: '{' }],
    ['a list', { body: [] }],
    ['another shape', { body: { items: [{ id: 7 }], nextCursor: null } }],
    ['a problem without a code', { status: 400, body: {}, headers: { 'content-type': 'application/problem+json' } }],
    ['an empty answer', { status: 204 }],
  ])('%s is exit 5, without a stack', async (_, answer) => {
    const { server, latchkey } = await start()
    server.answer('GET /tokens', answer)
    const { code, stdout, stderr } = await latchkey('tokens')
    expect(stderr).toContain('does not answer like a Latchkey control API')
    expect(stderr).not.toMatch(/^ +at /m)
    expect({ code, stdout }).toEqual({ code: 5, stdout: '' })
  })

  test.each([502, 503, 504])('a proxy whose host does not answer is exit 5: %d', async (status) => {
    const { server, latchkey } = await start()
    server.answer('GET /tokens', { status, body: '<html>nginx</html>', headers: { 'content-type': 'text/html' } })
    const { code, stdout, stderr } = await latchkey('tokens')
    expect(stderr).toBe(`error: The host behind the proxy of ${server.url} does not answer (status ${status}).\n`)
    expect({ code, stdout }).toEqual({ code: 5, stdout: '' })
    const json = await latchkey('tokens', '--json')
    expect(JSON.parse(json.stderr)).toMatchObject({ code: 'unreachable', status, exitCode: 5 })
  })

  test('a server that hangs up or does not exist is exit 5', async () => {
    const { server, desk, latchkey } = await start()
    server.answer('GET /tokens', (_seen, response) => {
      response.destroy()
      return null
    })
    expect(await latchkey('tokens')).toMatchObject({ code: 5, stdout: '' })
    await desk.signIn('http://127.0.0.1:1/auth/admin/api')
    const { code, stderr } = await desk.run(['--url', 'http://127.0.0.1:1', 'tokens'])
    expect(stderr).toContain('Cannot reach http://127.0.0.1:1')
    expect(code).toBe(5)
  })

  test('pages without end are not read for ever', async () => {
    const { server, latchkey } = await start()
    let count = 0
    server.answer('GET /users', () => {
      count += 1
      return { body: { items: [], nextCursor: `c${count}` } }
    })
    expect(await latchkey('users', 'show', 'bob@example.org')).toMatchObject({ code: 5 })
    server.answer('GET /audit.jsonl', { body: '', headers: { 'x-next-cursor': 'same' } })
    expect(await latchkey('audit', 'export', '-f', '-')).toMatchObject({ code: 5 })
  })
})

describe('ATK-143 a hostile repository', () => {
  test('latchkey.json that names another server gets no credential', async () => {
    const { desk, server } = await start()
    const attacker = await startControlServer()
    await writeFile(join(desk.folder, 'latchkey.json'), JSON.stringify({ url: attacker.url }))
    const { code, stderr } = await desk.run(['tokens'], { env: { LATCHKEY_ADMIN_TOKEN: 'secret-of-the-host' } })
    expect(stderr).toContain(`You are not signed in to ${attacker.url}`)
    expect(code).toBe(3)
    expect(attacker.seen).toEqual([])
    expect(server.seen).toEqual([])
  })

  test('latchkey.json that names another server gets no password', async () => {
    const { desk } = await start()
    const attacker = await startControlServer()
    await writeFile(join(desk.folder, 'latchkey.json'), JSON.stringify({ url: attacker.url }))
    const login = ['login', '--password', '-', '--email', 'ann@example.org']
    const { code, stderr } = await desk.run(login, { input: 'a difference engine\n' })
    expect(stderr).toContain('Name the application that gets the password')
    expect(code).toBe(2)
    expect(attacker.seen).toEqual([])
  })

  test('ATK-137 a server cannot relay the approval page and the code of another application', async () => {
    const { desk, server } = await start()
    approveAfter(server, 0)
    server.answer('POST /device', {
      status: 201,
      body: {
        handle: 'handle-1',
        userCode: 'QX7K-M2FD',
        url: 'https://api.example.org/auth/admin/device',
        interval: 1,
      },
    })
    const { code, stderr } = await desk.run(['login', server.url])
    expect(stderr).not.toContain('QX7K-M2FD')
    expect(stderr).not.toContain('api.example.org')
    expect(code).toBe(5)
  })

  test.each([
    'http://api.example.org',
    'ftp://api.example.org',
    'https://user:pass@api.example.org',
    'api.example.org',
  ])('ATK-200 nothing is sent to %s: exit 2', async (url) => {
    const { desk } = await start()
    await writeFile(join(desk.folder, 'latchkey.json'), JSON.stringify({ url }))
    expect(await desk.run(['tokens'])).toMatchObject({ code: 2, stdout: '' })
    expect(await desk.run(['login', url])).toMatchObject({ code: 2, stdout: '' })
  })

  test('ATK-200 with NODE_TLS_REJECT_UNAUTHORIZED=0 nothing is sent: exit 2', async () => {
    const { desk, server } = await start()
    const env = { NODE_TLS_REJECT_UNAUTHORIZED: '0' }
    for (const args of [['tokens'], ['login'], ['logout']]) {
      const { code, stderr } = await desk.run(['--url', server.url, ...args], { env })
      expect(stderr).toContain('NODE_TLS_REJECT_UNAUTHORIZED=0 accepts any certificate')
      expect(code).toBe(2)
    }
    expect(server.seen).toEqual([])
  })
})

describe('ATK-146 saved sign-ins', () => {
  test('others who may open the file or the folder: refused with the chmod', async () => {
    const { desk, server, latchkey } = await start()
    for (const mode of [0o644, 0o640, 0o602]) {
      await chmod(desk.credentials, mode)
      const { code, stderr } = await latchkey('tokens')
      expect(stderr).toContain(`chmod 600 '${desk.credentials}'`)
      expect(code).toBe(2)
    }
    await chmod(desk.credentials, 0o600)
    await chmod(dirname(desk.credentials), 0o755)
    const { stderr } = await latchkey('tokens')
    expect(stderr).toContain(`chmod 700 '${dirname(desk.credentials)}'`)
    expect(await desk.run(['login', server.url])).toMatchObject({ code: 2 })
    expect(server.seen).toEqual([])
  })

  test.each([
    ['empty', '', 'is damaged. Remove it'],
    ['half-written', '{"version":1,"signIns":{"http', 'is damaged. Remove it'],
    ['of another shape', '{"version":1,"signIns":{"x":{"email":1}}}', 'is damaged. Remove it'],
    ['of a newer version', '{"version":2,"vault":{}}', 'A newer latchkey wrote'],
  ])('a file that is %s is refused with the remedy, and stays as it is', async (_, text, remedy) => {
    const { desk, server, latchkey } = await start()
    await writeFile(desk.credentials, text)
    for (const args of [['tokens'], ['logout'], ['login', server.url]]) {
      const { code, stderr } = await latchkey(...args)
      expect(stderr).toContain(remedy)
      expect(stderr).not.toMatch(/^ +at /m)
      expect(code).toBe(2)
    }
    expect(await readFile(desk.credentials, 'utf8')).toBe(text)
  })

  test('a link in its place is refused', async () => {
    const { desk, latchkey } = await start()
    const linked = await openDesk()
    await mkdir(dirname(linked.credentials), { recursive: true, mode: 0o700 })
    await symlink(desk.credentials, linked.credentials)
    const { code } = await linked.run(['--url', 'http://127.0.0.1:1', 'tokens'])
    expect(code).toBe(2)
    expect(await latchkey('tokens')).toMatchObject({ code: 0 })
  })

  test('the lock of a killed tool is taken over', async () => {
    const { desk, server, latchkey } = await start()
    await writeFile(`${desk.credentials}.lock`, '999999999')
    server.valid.delete('access-1')
    const tools = Array.from({ length: 4 }, () => latchkey('tokens'))
    expect((await Promise.all(tools)).map(({ code }) => code)).toEqual([0, 0, 0, 0])
    expect(server.to('POST /auth/refresh')).toHaveLength(1)
    expect(await desk.saved()).toMatchObject({ [server.api]: { accessToken: 'access-2' } })
    expect(await readdir(dirname(desk.credentials))).toEqual(['credentials.json'])
  })

  test('a sign-in is kept for its own control API, also on one origin', async () => {
    const { desk, server } = await start()
    const { code } = await desk.run(['--url', `${server.url}/other/auth`, 'tokens'])
    expect(code).toBe(3)
    expect(server.seen).toEqual([])
  })
})
