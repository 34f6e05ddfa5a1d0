import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { problem } from '../../support/control-server.js'
import {
  adminToken,
  type HostControlServer,
  ndjson,
  startHostControlServer,
  tokenEntry,
} from '../../support/host-control-server.js'
import { type Desk, openDesk, type RunOptions } from '../../support/tool.js'

let desk: Desk
let server: HostControlServer

beforeEach(async () => {
  const opened = await Promise.all([openDesk(), startHostControlServer()])
  desk = opened[0]
  server = opened[1]
  await desk.signIn(server.api)
})

const latchkey = (args: readonly string[], options?: RunOptions) => desk.run(['--url', server.url, ...args], options)
const bodies = (route: string) => server.to(route).map(({ body }) => body)

describe('spaces', () => {
  test('use writes the space, and keeps what the file has', async () => {
    const path = join(desk.folder, 'latchkey.json')
    await writeFile(path, JSON.stringify({ url: server.url, more: 1 }))
    await mkdir(join(desk.folder, 'below'))
    const { code, stdout } = await desk.run(['use', 'dev'], { folder: join(desk.folder, 'below') })
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'Using space dev (written to latchkey.json)\n' })
    expect(JSON.parse(await readFile(path, 'utf8'))).toEqual({ url: server.url, more: 1, space: 'dev' })
  })

  test('use writes no space that is not there, and no file of another host', async () => {
    expect(await latchkey(['use', 'gone'])).toMatchObject({ code: 1, stdout: '' })
    const text = JSON.stringify({ url: 'https://other.example.org' })
    await writeFile(join(desk.folder, 'latchkey.json'), text)
    expect(await latchkey(['use', 'dev'])).toMatchObject({ code: 2, stdout: '' })
    expect(await readFile(join(desk.folder, 'latchkey.json'), 'utf8')).toBe(text)
  })

  test('spaces, create and remove-space', async () => {
    expect((await latchkey(['spaces'])).stdout).toContain(
      'dev   ready  16       61 MB   0         https://api.example.org/dev',
    )
    expect((await latchkey(['create', 'test'])).stdout).toBe('Created space test: https://api.example.org/test\n')
    expect(await latchkey(['remove-space', 'dev'])).toMatchObject({ code: 2, stdout: '' })
    expect(await latchkey(['remove-space', 'dev', '--confirm', 'test'])).toMatchObject({ code: 2 })
    expect(server.to('DELETE /spaces/dev')).toEqual([])
    expect(await latchkey(['remove-space', 'dev', '--confirm', 'dev'])).toMatchObject({ code: 0 })
    expect(bodies('DELETE /spaces/dev')).toEqual([{ confirm: 'dev' }])
  })
})

test('take-over asks first, and says what it ended', async () => {
  expect(await latchkey(['take-over'])).toMatchObject({ code: 2, stdout: '' })
  expect(server.to('POST /spaces/dev/take-over')).toEqual([])
  const { code, stdout } = await latchkey(['take-over', '--yes'])
  expect(code).toBe(0)
  expect(stdout).toBe(
    'Ended: deploy by adminToken a41f3c0d9e8b7a65, since 2026-11-24T12:00:00.000Z.\ndev is kept for your next change, for a minute.\n',
  )
})

test('info adds the space, its release and the names of its environment', async () => {
  const { code, stdout } = await latchkey(['info', '--examples'])
  expect(stdout).toContain('Space      dev, https://api.example.org/dev\nRelease    16\n')
  expect(stdout).toContain('Env        MAIL_FROM, JWT_ACCESS_TOKEN_SECRET\n')
  expect(stdout).toContain("'https://api.example.org/dev/<route>'")
  expect(code).toBe(0)
})

describe('project and teams', () => {
  test('list, add, set and remove', async () => {
    expect((await latchkey(['project'])).stdout).toContain('bob@example.org        MEMBER  deployers (ADMIN)  ADMIN\n')
    expect((await latchkey(['project', 'add', 'eve@example.org'])).stdout).toContain('has the right MEMBER')
    expect(bodies('POST /project/users')).toEqual([{ email: 'eve@example.org', right: 'MEMBER' }])
    expect(await latchkey(['project', 'set', 'bob@example.org'])).toMatchObject({ code: 2 })
    expect(await latchkey(['project', 'set', 'Bob@Example.org', '--right', 'admin'])).toMatchObject({ code: 0 })
    expect(bodies('PATCH /project/users/user-2')).toEqual([{ right: 'ADMIN' }])
    const removed = await latchkey(['project', 'remove', 'bob@example.org', '--confirm', 'bob@example.org'])
    expect(removed.stdout).toBe('bob@example.org is no user of the project any more.\n')
  })

  test('ATK-191 team tokens that a removed person made are kept or removed, as the option says', async () => {
    server.answer('DELETE /teams/team-1/members/user-2', { body: { tokens: [tokenEntry] } })
    const args = ['teams', 'remove-user', 'deployers', 'bob@example.org']
    const asked = await latchkey(args)
    expect(asked.stderr).toContain('--tokens remove')
    expect(asked.code).toBe(6)
    expect(await latchkey([...args, '--tokens', 'keep'])).toMatchObject({ code: 0 })
    expect(server.to(`DELETE /admintokens/${tokenEntry.id}`)).toEqual([])
    expect(await latchkey([...args, '--tokens', 'remove'])).toMatchObject({ code: 0 })
    expect(server.to(`DELETE /admintokens/${tokenEntry.id}`)).toHaveLength(1)
  })

  test('teams', async () => {
    expect((await latchkey(['teams'])).stdout).toContain('deployers  ADMIN  ann@example.org, bob@example.org  team-1')
    expect((await latchkey(['teams', 'create', 'qa'])).stdout).toBe('Created team qa with the right MEMBER.\n')
    expect(await latchkey(['teams', 'set', 'deployers', '--right', 'MEMBER'])).toMatchObject({ code: 0 })
    expect(await latchkey(['teams', 'add-user', 'deployers', 'eve@example.org'])).toMatchObject({ code: 0 })
    expect(await latchkey(['teams', 'remove', 'deployers', '--confirm', 'deployers'])).toMatchObject({ code: 0 })
    expect(await latchkey(['teams', 'set', 'gone', '--right', 'MEMBER'])).toMatchObject({ code: 1 })
  })
})

describe('admin tokens', () => {
  test('add-admintoken prints the token once', async () => {
    const limits = ['--spaces', 'dev,test', '--commands', 'deploy', '--cidr', '192.0.2.0/24', '--no-expiry']
    const { stdout, stderr } = await latchkey(['add-admintoken', '--owner', 'deployers', '--name', 'ci', ...limits])
    expect(stdout).toBe(`New admin token added:  ${adminToken}\n`)
    expect(stderr).toContain(
      'It will never be shown in full again. Use it with --admintoken or LATCHKEY_ADMIN_TOKEN.\n',
    )
    expect(bodies('POST /admintokens')).toEqual([
      {
        owner: 'team-1',
        name: 'ci',
        expiresAt: null,
        spaces: ['dev', 'test'],
        commands: ['deploy'],
        cidrs: ['192.0.2.0/24'],
      },
    ])
  })

  test('add-admintoken asks whose it is', async () => {
    const { code, stderr } = await latchkey(['add-admintoken'])
    expect(stderr).toContain('Select personal account or team to add admin token to Answer with --owner personal')
    expect(code).toBe(2)
    const chosen = [[/team to add admin token to/, '\u001b[B\r']] as const
    const typed = await desk.type(['--url', server.url, 'add-admintoken'], chosen)
    expect(typed.screen).toContain('Team deployers (ADMIN)')
    expect(typed.code).toBe(0)
    expect(bodies('POST /admintokens')).toEqual([{ owner: 'team-1' }])
  })

  test.each([[['--commands', 'tokens']], [['--expires', '1d', '--no-expiry']], [['--expires', 'soon']]])(
    '%j is a usage error',
    async (args) => {
      expect(await latchkey(['add-admintoken', '--owner', 'personal', ...args])).toMatchObject({ code: 2, stdout: '' })
      expect(server.seen).toEqual([])
    },
  )

  test('admintokens and remove-admintoken', async () => {
    const { stdout } = await latchkey(['admintokens'])
    expect(stdout).toContain('5 first characters')
    expect(stdout).toContain('a41f0')
    expect(stdout).not.toContain(adminToken)
    const removed = await latchkey(['remove-admintoken', tokenEntry.id])
    expect(removed.stdout).toBe('Admin token removed successfully from personal account\n')
    expect(await latchkey(['remove-admintoken', '--all'])).toMatchObject({ code: 2 })
    expect(await latchkey(['admintokens', 'remove', '--all', '--yes'])).toMatchObject({
      code: 0,
      stdout: 'Removed 3 admin tokens.\n',
    })
    expect(bodies('DELETE /admintokens')).toEqual([{ confirm: 'all' }])
  })
})

describe('the environment', () => {
  const added = "Added environment variable to 'dev'\n"

  test('set-env takes the value from the line, stdin or a file', async () => {
    const secret = ['set-env', 'JWT_ACCESS_TOKEN_SECRET']
    const open = await latchkey([...secret, 'a b', '--encrypted'])
    expect(open.stdout).toBe(added)
    expect(open.stderr).toContain('your shell keeps JWT_ACCESS_TOKEN_SECRET in its history')
    expect(open.stderr).toContain('The application restarts with it.\n')
    await latchkey([...secret, '-', '--encrypted'], { input: 'from stdin\n' })
    await writeFile(join(desk.folder, 'value'), 'from a file\n')
    await latchkey([...secret, '--file', 'value', '--encrypted'])
    await latchkey(['set-env', 'MAIL_FROM', 'x'])
    expect(bodies('POST /spaces/dev/env')).toEqual([
      { name: 'JWT_ACCESS_TOKEN_SECRET', value: 'a b', encrypted: true },
      { name: 'JWT_ACCESS_TOKEN_SECRET', value: 'from stdin', encrypted: true },
      { name: 'JWT_ACCESS_TOKEN_SECRET', value: 'from a file', encrypted: true },
      { name: 'MAIL_FROM', value: 'x', encrypted: false },
    ])
  })

  test('a name that looks like a secret is asked about', async () => {
    const args = ['set-env', 'STRIPE_API_KEY', 'x']
    const { code, stderr } = await latchkey(args)
    expect(stderr).toContain('STRIPE_API_KEY looks like a secret')
    expect(stderr).toContain('--encrypted')
    expect(code).toBe(2)
    expect(server.to('POST /spaces/dev/env')).toEqual([])
    await latchkey([...args, '--yes'])
    await latchkey([...args, '--no-encrypted'])
    expect(bodies('POST /spaces/dev/env').map(({ encrypted }) => encrypted)).toEqual([true, false])
  })

  test('without a value it is asked for, with hidden input', async () => {
    const args = ['--url', server.url, 'set-env', 'DB_PASSWORD', '--encrypted']
    const { screen } = await desk.type(args, [['Type the value of DB_PASSWORD', 'swordfish\r']])
    expect(screen).not.toContain('swordfish')
    expect(bodies('POST /spaces/dev/env')).toMatchObject([{ value: 'swordfish' }])
    expect(await latchkey(['set-env', 'DB_PASSWORD', '--encrypted'])).toMatchObject({ code: 2 })
  })

  test.each([
    [['set-env', '1X', 'x']],
    [['set-env', 'X', 'x', '--file', 'y']],
    [['set-env', 'X', 'x'.repeat(33_000)]],
    [['set-env', 'X', '--file', 'gone']],
  ])('a wrong line is a usage error', async (args) => {
    expect(await latchkey(args)).toMatchObject({ code: 2, stdout: '' })
    expect(server.to('POST /spaces/dev/env')).toEqual([])
  })

  test('env lists, and remove-env removes', async () => {
    const { stdout } = await latchkey(['env'])
    expect(stdout).toContain('MAIL_FROM                a@example.org  v1  ')
    expect(stdout).toMatch(/^JWT_ACCESS_TOKEN_SECRET {2}\(encrypted\) {4}v3 {2}Ann, \d+ days ago$/m)
    expect((await latchkey(['remove-env', 'MAIL_FROM'])).stdout).toBe("Removed environment variable from 'dev'\n")
  })
})

describe('log', () => {
  test('prints lines with control characters escaped', async () => {
    const { code, stdout } = await latchkey(['log', '--since', '10m', '--level', 'error'])
    expect(stdout).toBe('12:00:01.223 info  started\n12:00:02.001 error no \\x1b[31mluck\n')
    expect(code).toBe(0)
    expect(server.to('GET /spaces/dev/logs')[0]?.query.get('level')).toBe('error')
  })

  test('--json prints a line each; ATK-193 a log that is cut is exit 1', async () => {
    const line = { at: '2026-11-24T12:00:01.223Z', level: 'info', text: 'x' }
    server.answer('GET /spaces/dev/logs', ndjson(line))
    const { code, stdout } = await latchkey(['log', '--follow', '--json'])
    expect(JSON.parse(stdout)).toEqual(line)
    expect(code).toBe(1)
  })

  test('a refusal is no log', async () => {
    server.answer('GET /spaces/dev/logs', problem(403, 'forbidden'))
    expect(await latchkey(['log'])).toMatchObject({ code: 3, stdout: '' })
  })
})
