import { randomBytes } from 'node:crypto'
import { mkdir, realpath, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { problem } from '../../support/control-server.js'
import {
  adminToken,
  type HostControlServer,
  ndjson,
  release,
  startHostControlServer,
} from '../../support/host-control-server.js'
import { type Desk, openDesk } from '../../support/tool.js'

const releases = 'POST /spaces/dev/releases'
let desk: Desk
let server: HostControlServer

beforeEach(async () => {
  const opened = await Promise.all([openDesk(), startHostControlServer()])
  desk = opened[0]
  server = opened[1]
  await mkdir(join(desk.folder, '.git'))
  await writeFile(join(desk.folder, 'index.js'), "import './more.js'\nexport default {}\n")
  await writeFile(join(desk.folder, 'more.js'), 'globalThis.more = 1\n')
})

const deploy = (...args: readonly string[]) =>
  desk.run(['deploy', '--url', server.url, ...args], { env: { LATCHKEY_ADMIN_TOKEN: adminToken } })

describe('deploy', () => {
  test('uploads the bundle with an admin token and prints each step', async () => {
    const { code, stdout, stderr } = await deploy()
    expect(stdout.replace(/[\d.]+ (kB|B|s)\b/g, 'N $1')).toBe(
      'Project: shop  Space: dev\n' +
        ' bundled   index.js + 1 modules → N B in N s\n' +
        ' uploaded  N kB\n'.replace('kB', 'B') +
        ' started   release 17 in N s, healthy\n' +
        ' serving   https://api.example.org/dev   (release 16 drains, rollback: latchkey deploy --rollback)\n' +
        'Deployed Codehook successfully!\n',
    )
    expect(stderr).toBe(`remote ${server.url} with admin token a41f0…\nwarning: jobs do not run here\n`)
    expect(code).toBe(0)
    const [sent] = server.to(releases)
    expect(sent?.headers).toMatchObject({ 'x-admintoken': adminToken, 'content-type': 'application/gzip' })
    expect(sent?.headers.authorization).toBeUndefined()
    expect(Number(sent?.headers['content-length'])).toBe(sent?.bytes)
  })

  test('ATK-245 from a workspace takes hoisted packages, names their folder, and refuses a key above with its line', async () => {
    const files = {
      'shop/package-lock.json': '{}',
      'shop/node_modules/left/index.js': 'module.exports = 1',
      'shop/.ssh/id_rsa': 'hunter2',
      'shop/apps/api/index.js': "import left from 'left'\nexport default left",
      'shop/apps/other/index.js': "import left from 'left'\nimport key from '../../.ssh/id_rsa'\nexport default key",
    }
    for (const [name, content] of Object.entries(files)) {
      await mkdir(dirname(join(desk.folder, name)), { recursive: true })
      await writeFile(join(desk.folder, name), content)
    }
    const { code, stdout } = await deploy('--dir', 'shop/apps/api')
    expect(code).toBe(0)
    expect(stdout).toContain(
      ` packages  are taken from ${await realpath(join(desk.folder, 'shop'))} (package-lock.json)\n`,
    )
    const refused = await deploy('--dir', 'shop/apps/other')
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain('index.js:2:17: "../../.ssh/id_rsa" is ')
    expect(server.to(releases)).toHaveLength(1)
  })

  test('--json prints one value', async () => {
    const { code, stdout, stderr } = await deploy('--json')
    expect(JSON.parse(stdout)).toEqual({
      release: 17,
      url: 'https://api.example.org/dev',
      warnings: ['jobs do not run here'],
      ms: expect.any(Number),
    })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  })

  test('sends commit and branch', async () => {
    await mkdir(join(desk.folder, '.git/refs/heads'), { recursive: true })
    await writeFile(join(desk.folder, '.git/HEAD'), 'ref: refs/heads/größer\n')
    await writeFile(join(desk.folder, '.git/refs/heads/größer'), `${'d'.repeat(40)}\n`)
    await deploy()
    expect(server.to(releases)[0]?.headers).toMatchObject({
      'x-latchkey-git-hash': 'd'.repeat(40),
      'x-latchkey-git-branch': 'gr%C3%B6%C3%9Fer',
    })
    // Git knows no such commit.
    expect(server.to(releases)[0]?.headers).not.toHaveProperty('x-latchkey-git-dirty')
  })

  test('a release that does not start is exit 1 and names what serves', async () => {
    const fault = { status: 504, code: 'application_timeout', detail: 'index.js:3:7 did not end' }
    server.answer(releases, ndjson({ step: 'uploaded', ms: 1 }, { error: fault }))
    server.answer('GET /spaces/dev/releases', ({ headers: _ }) => ({
      body: {
        items:
          server.to(releases).length === 0 ? [release(16, 'current')] : [release(17, 'failed'), release(16, 'current')],
      },
    }))
    const { code, stderr } = await deploy()
    expect(stderr).toContain('error: index.js:3:7 did not end\nRelease 17 did not start; release 16 still serves.\n')
    expect(code).toBe(1)
  })

  test.each([
    ['ends early', ndjson({ step: 'uploaded', ms: 1 }, { step: 'started', ms: 1 }), 1, 'ended before it was whole'],
    ['ends within a row', { body: '{"done":true,"release":17,"warnings":[]}' }, 1, 'ended before it was whole'],
    ['is no NDJSON', { body: '<html>\n' }, 5, 'a row that is no JSON object'],
    ['has a row of another shape', ndjson({ step: 7 }), 5, 'is not a text'],
    ['has a row without end', { body: 'x'.repeat(300_000) }, 5, 'a row without end'],
    ['has too many rows', { body: '{"step":"x","ms":1}\n'.repeat(500_000) }, 5, 'more than 8 MiB'],
    ['is a redirect', { status: 307, headers: { location: 'http://127.0.0.1:1/' } }, 5, 'redirect'],
    ['is refused', problem(413, 'quota_exceeded'), 1, 'quota_exceeded'],
    ['is busy', problem(409, 'space_busy'), 1, 'space_busy'],
    ['has an error of another shape', ndjson({ error: 'x' }), 5, 'an error that is no problem'],
  ])('ATK-193 an answer that %s fails', async (_, answer, exitCode, text) => {
    server.answer(releases, answer)
    const { code, stdout, stderr } = await deploy('--json')
    expect(stderr).toContain(text)
    expect(stderr).not.toMatch(/^ +at /m)
    expect({ code, stdout }).toEqual({ code: exitCode, stdout: '' })
  })

  test('ATK-193 a server that hangs up during the answer fails, and names the history', async () => {
    server.answer(releases, (_seen, response) => {
      response.writeHead(200, { 'content-type': 'application/x-ndjson' })
      response.write('{"step":"uploaded","ms":1}\n', () => response.destroy())
      return null
    })
    const { code, stderr } = await deploy()
    expect(stderr).toContain('latchkey deploy --history')
    expect(code).toBe(1)
  })

  test('--no-wait leaves after the upload', async () => {
    server.answer(releases, (_seen, response) => {
      response.writeHead(200, { 'content-type': 'application/x-ndjson' })
      response.write('{"step":"uploaded","ms":1}\n')
      return null
    })
    const { code, stdout } = await deploy('--no-wait')
    expect(stdout).toContain('The host starts it now. How it ends: latchkey deploy --history\n')
    expect(code).toBe(0)
  })

  test.each(['SIGINT', 'SIGTERM'] as const)('%s during the answer is exit 130', async (signal) => {
    server.answer(releases, (_seen, response) => {
      response.writeHead(200, { 'content-type': 'application/x-ndjson' })
      response.write('{"step":"uploaded","ms":1}\n')
      return null
    })
    await desk.signIn(server.api)
    const isReady = () => vi.waitFor(() => expect(server.to(releases)).toHaveLength(1), { timeout: 30_000 })
    const { code, stdout } = await desk.interrupt(['deploy', '--json', '--url', server.url], signal, isReady)
    expect({ code, stdout }).toEqual({ code: 130, stdout: '' })
  })

  test('ATK-192 Ctrl-C during the upload ends the connection, and the host gets no whole archive', async () => {
    await writeFile(join(desk.folder, 'large.bin'), randomBytes(20_000_000))
    server.holdUploads()
    await desk.signIn(server.api)
    const hasBegun = () => expect(server.received()).toBeGreaterThan(0)
    const isReady = () => vi.waitFor(hasBegun, { timeout: 30_000, interval: 5 })
    const { code } = await desk.interrupt(['deploy', '--json', '--url', server.url], 'SIGINT', isReady)
    expect(code).toBe(130)
    expect(server.to(releases)).toEqual([])
  })

  test('a space that is not there fails before anything is bundled', async () => {
    const { code, stderr } = await deploy('--space', 'gone', '--dir', 'nowhere')
    expect(stderr).toContain('not_found')
    expect(code).toBe(1)
    expect(server.received()).toBe(0)
  })

  test('an application is exit 4', async () => {
    server.answer('GET /', {
      body: { home: 'application', version: '1', user: { id: 'x', email: 'x', name: null, right: 'ADMIN' } },
    })
    const { code, stderr } = await deploy()
    expect(stderr).toContain('needs a space host')
    expect(code).toBe(4)
  })
})

describe('rollback, history and undeploy', () => {
  test('--rollback puts the release before in force', async () => {
    const { code, stdout } = await deploy('--rollback')
    expect(stdout).toBe(
      'Project: shop  Space: dev\n' +
        ' started   release 15 in 0.4 s, healthy\n' +
        ' serving   https://api.example.org/dev   (release 16 drains)\n' +
        'Rolled back to release 15.\n',
    )
    expect(code).toBe(0)
  })

  test.each(['0', '1.5', 'x'])('--rollback %s is a usage error', async (number) => {
    expect(await deploy('--rollback', number)).toMatchObject({ code: 2, stdout: '' })
    expect(server.seen).toEqual([])
  })

  test('without a release before, --rollback is exit 1', async () => {
    server.answer('GET /spaces/dev/releases', { body: { items: [release(1, 'current')] } })
    expect(await deploy('--rollback')).toMatchObject({ code: 1 })
  })

  test('--history lists the releases, to a token without names', async () => {
    const { stdout } = await deploy('--history')
    expect(stdout).toContain('16       current  ccccccc main  312 kB  user-1  2026-11-01T10:20Z')
  })

  test('undeploy needs the name of the space', async () => {
    const env = { LATCHKEY_ADMIN_TOKEN: adminToken, LATCHKEY_URL: server.url }
    const asked = await desk.run(['undeploy'], { env })
    expect(asked.stderr).toContain('--confirm dev')
    expect(asked.code).toBe(2)
    const done = await desk.run(['undeploy', '--confirm', 'dev'], { env })
    expect(done).toMatchObject({ code: 0, stdout: 'Undeployed dev. Data, tokens and settings stay.\n' })
    expect(server.to('DELETE /spaces/dev/releases/current')).toMatchObject([{ body: { confirm: 'dev' } }])
  })
})
