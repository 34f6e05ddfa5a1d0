import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { commands } from '../../../src/cli/commands/index.js'
import { adminCommands } from '../../../src/contract/admin-command.js'
import { adminToken, type HostControlServer, startHostControlServer } from '../../support/host-control-server.js'
import { type Desk, openDesk } from '../../support/tool.js'

let desk: Desk
let server: HostControlServer

beforeEach(async () => {
  const opened = await Promise.all([openDesk(), startHostControlServer()])
  desk = opened[0]
  server = opened[1]
})

const undeploy = ['undeploy', '--confirm', 'dev']
const sent = () => server.seen.map(({ headers }) => headers['x-admintoken'] ?? headers.authorization)
const other = `${'b'.repeat(16)}-${'b'.repeat(32)}`

describe('an admin token', () => {
  const outside = commands.map(([name]) => name).filter((name) => !adminCommands.some((each) => each === name))

  test('ATK-104 is refused by every other command, and nothing is sent', async () => {
    for (const name of ['tokens', 'env', 'log', 'users export -f x', 'add-admintoken', 'whoami']) {
      expect(outside).toContain(name.replace(' -f x', ''))
      const args = [...name.split(' '), '--admintoken', adminToken, '--url', server.url]
      const { code, stdout, stderr } = await desk.run(args)
      expect(stderr).toContain('takes no admin token. They are for: deploy, undeploy')
      expect(stderr).not.toContain(adminToken)
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    }
    expect(server.seen).toEqual([])
  })

  test('ATK-104 of a variable is not read by another command', async () => {
    await desk.signIn(server.api)
    await desk.run(['tokens', '--url', server.url], { env: { LATCHKEY_ADMIN_TOKEN: adminToken } })
    expect(new Set(sent())).toEqual(new Set(['Bearer access-1']))
  })

  test('the option goes before the variables, and these before the sign-in', async () => {
    await desk.signIn(server.api)
    const env = { LATCHKEY_URL: server.url, LATCHKEY_ADMIN_TOKEN: other, CODEHOOKS_ADMIN_TOKEN: 'x' }
    const given = await desk.run([...undeploy, '--admintoken', adminToken], { env })
    expect(given.stderr).toContain('your shell keeps --admintoken in its history')
    expect(given.code).toBe(0)
    expect(new Set(sent())).toEqual(new Set([adminToken]))
    server.seen.length = 0
    expect(await desk.run(undeploy, { env })).toMatchObject({ code: 3 })
    expect(sent()).toEqual([other])
    server.seen.length = 0
    const second = { LATCHKEY_URL: server.url, CODEHOOKS_ADMIN_TOKEN: adminToken }
    expect(await desk.run(undeploy, { env: second })).toMatchObject({ code: 0 })
    server.seen.length = 0
    expect(await desk.run([...undeploy, '--url', server.url])).toMatchObject({ code: 0 })
    expect(new Set(sent())).toEqual(new Set(['Bearer access-1']))
  })

  test('is named where there is no sign-in', async () => {
    const { code, stderr } = await desk.run([...undeploy, '--url', server.url])
    expect(stderr).toContain('Or set LATCHKEY_ADMIN_TOKEN')
    expect(code).toBe(3)
    expect(server.seen).toEqual([])
  })

  test('- reads it from stdin', async () => {
    const args = [...undeploy, '--admintoken', '-', '--url', server.url]
    expect(await desk.run(args, { input: `${adminToken}\n` })).toMatchObject({ code: 0 })
  })

  test('ATK-143 ATK-200 does not go to a URL that only latchkey.json names', async () => {
    await writeFile(join(desk.folder, 'latchkey.json'), JSON.stringify({ url: server.url, space: 'dev' }))
    for (const [args, env] of [
      [[...undeploy, '--admintoken', adminToken], {}],
      [undeploy, { LATCHKEY_ADMIN_TOKEN: adminToken }],
      [undeploy, { CODEHOOKS_ADMIN_TOKEN: adminToken }],
    ] as const) {
      const { code, stdout, stderr } = await desk.run(args, { env })
      expect(stderr).toContain(`--url ${server.url}`)
      expect(stderr).not.toContain(adminToken)
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    }
    expect(server.seen).toEqual([])
    await desk.signIn(server.api)
    expect(await desk.run(undeploy, { env: { LATCHKEY_ADMIN_TOKEN: adminToken } })).toMatchObject({ code: 0 })
    expect(new Set(sent())).toEqual(new Set([adminToken]))
  })

  test.each(['', 'x', `${adminToken}\r\nx-a: b`, adminToken.toUpperCase()])(
    '%j is no token, and is not sent',
    async (text) => {
      const { code, stderr } = await desk.run([...undeploy, '--url', server.url, `--admintoken=${text}`])
      expect(stderr).toContain('holds no admin token')
      expect(code).toBe(2)
      expect(server.seen).toEqual([])
    },
  )

  test('ATK-142 does not follow a redirect', async () => {
    const elsewhere = await startHostControlServer()
    server.answer('GET /', { status: 307, headers: { location: `${elsewhere.api}/` } })
    const args = [...undeploy, '--url', server.url]
    expect(await desk.run(args, { env: { LATCHKEY_ADMIN_TOKEN: adminToken } })).toMatchObject({ code: 5 })
    expect(elsewhere.seen).toEqual([])
  })

  test('ATK-200 goes to no server without TLS or with unchecked certificates', async () => {
    const given = [...undeploy, '--admintoken', adminToken, '--url']
    expect(await desk.run([...given, 'http://api.example.org'])).toMatchObject({ code: 2, stdout: '' })
    const env = { NODE_TLS_REJECT_UNAUTHORIZED: '0' }
    expect(await desk.run([...given, server.url], { env })).toMatchObject({ code: 2, stdout: '' })
    expect(server.seen).toEqual([])
  })

  test('works in an empty environment without a home folder', async () => {
    const token = `LATCHKEY_ADMIN_TOKEN=${adminToken}`
    const line = `true && env -i ${token} '${process.execPath}' '${desk.main}' undeploy --confirm dev --json --url ${server.url}`
    const { code, stdout } = await desk.shell(`--version && ${line}`)
    expect(JSON.parse(stdout.split('\n').slice(1).join('\n'))).toEqual({ space: 'dev', undeployed: true })
    expect(code).toBe(0)
  })
})

describe('the space of a command', () => {
  test('--space goes before LATCHKEY_SPACE, latchkey.json and dev', async () => {
    await desk.signIn(server.api)
    const asked = async (args: readonly string[], env: Record<string, string> = {}) => {
      server.seen.length = 0
      await desk.run(['tokens', '--url', server.url, ...args], { env })
      return server.seen.map(({ route }) => route).at(-1)
    }
    expect(await asked([])).toBe('GET /spaces/dev/tokens')
    await writeFile(
      join(desk.folder, 'latchkey.json'),
      JSON.stringify({ url: 'https://other.example.org', space: 'file' }),
    )
    expect(await asked([])).toBe('GET /spaces/file/tokens')
    expect(await asked([], { LATCHKEY_SPACE: 'variable' })).toBe('GET /spaces/variable/tokens')
    expect(await asked(['-s', 'option'], { LATCHKEY_SPACE: 'variable' })).toBe('GET /spaces/option/tokens')
  })

  test.each(['Prod', '../x', 'a b', '', 'x'.repeat(32)])('%j is no name of a space: exit 2', async (name) => {
    await desk.signIn(server.api)
    const { code } = await desk.run(['tokens', '--url', server.url, `--space=${name}`])
    expect(code).toBe(2)
    expect(server.seen.map(({ route }) => route)).toEqual(['GET /'])
  })

  test('tokens, JWKS and the allow-list are those of the space', async () => {
    await desk.signIn(server.api)
    const latchkey = (...args: string[]) => desk.run(['--url', server.url, ...args])
    expect(await latchkey('add-token', '--readonly')).toMatchObject({ code: 0 })
    const { stdout } = await latchkey('jwks', 'https://tenant.example.com/.well-known/jwks.json')
    expect(stdout).toBe('Set JWKS url for space dev\n1 key: RS256 k1\n')
    expect(await latchkey('whitelist', '198.51.100.4', '--yes')).toMatchObject({ code: 0 })
  })
})
