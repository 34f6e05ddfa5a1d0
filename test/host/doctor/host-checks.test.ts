import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import {
  folderChecks,
  hostChecks,
  isSameSite,
  localListeners,
  type RunningFacts,
  writesQueryField,
} from '../../../src/host/doctor/host-checks.js'
import { folderAt } from '../../../src/host/folder/folder.js'
import { parseHostSettings } from '../../../src/host/settings/host-settings.js'
import { type CheckResult, toResults } from '../../../src/model/doctor/report.js'
import { type HostWorld, hostWorld } from '../../support/host-world.js'

let world: HostWorld
let facts: RunningFacts

beforeEach(async () => {
  world = await hostWorld()
  const path = await mkdtemp(join(tmpdir(), 'latchkey-doctor-'))
  onTestFinished(() => rm(path, { recursive: true, force: true }))
  const settings = {
    baseUrl: 'https://api.example.org',
    adminUrl: 'https://admin.example.net',
    trustedProxies: { kind: 'none' },
    listen: { kind: 'tcp', host: '127.0.0.1', port: 4310 },
    adminListen: { kind: 'tcp', host: '127.0.0.1', port: 4311 },
    limits: parseHostSettings({}).limits,
  } as const
  const people = world.running.nouns
  facts = {
    settings,
    folder: folderAt(path),
    people,
    crashedSpaces: async () => [],
    isolation: { mode: 'process', absent: null },
    deployed: async () => [],
    backups: async () => [],
    now: () => 0,
  }
})

async function resultsOf(running: RunningFacts): Promise<CheckResult[]> {
  const results = await Promise.all(
    hostChecks(running).map(async ({ code, row, check }) => toResults(code, row, await check())),
  )
  return results.flat()
}

/** `code: finding` of what is wrong. */
async function findings(running: RunningFacts): Promise<string[]> {
  return (await resultsOf(running)).flatMap(({ code, finding }) => (finding === null ? [] : [`${code}: ${finding}`]))
}

describe('the checks of a host', () => {
  test('find nothing on a healthy one, and the tool judges those of the folder', async () => {
    await world.signedIn('ada@example.org', 'ADMIN')
    expect(await findings(facts)).toEqual([])
    expect((await resultsOf(facts)).map(({ code }) => code)).toEqual([
      ...[
        'isolation_weak',
        'sandbox_absent',
        'network_open',
        'space_crashed',
        'query_scope',
        'backup_old',
        'admin_same_site',
        'master_key_unsaved',
        'generation_lost',
        'disk_low',
      ],
    ])
    expect(folderChecks(facts, 'L').map(({ code }) => code)).toEqual([
      ...['admin_same_site', 'master_key_unsaved', 'generation_lost', 'disk_low'],
    ])
  })

  test('isolation_weak and sandbox_absent: what the sandbox changes', async () => {
    await world.signedIn('ada@example.org', 'ADMIN')
    await world.signedIn('max@example.org', 'ADMIN')
    expect(await findings({ ...facts, isolation: { mode: 'sandbox', absent: null } })).not.toContainEqual(
      expect.stringContaining('isolation_weak'),
    )
    const absent = { cause: 'bubblewrap is not installed.', cure: 'Install it.' }
    expect(await findings({ ...facts, isolation: { mode: 'process', absent } })).toContain(
      'sandbox_absent: bubblewrap is not installed. Install it.',
    )
  })

  test('ATK-273 network_open names what listens on loopback and in the abstract namespace, if an application has a network', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    const abstract = createServer().listen('\0latchkey-abstract')
    onTestFinished(() => void [server, abstract].map((each) => each.close()))
    await Promise.all([server, abstract].map((each) => each.listening || once(each, 'listening')))
    const listening = await localListeners([])
    expect(listening.length).toBeGreaterThan(1)
    const isolation = { mode: 'sandbox', absent: null } as const
    expect(await findings({ ...facts, isolation })).toContainEqual(expect.stringMatching(/^network_open: /))
    const limits = { ...facts.settings.limits, network: false }
    expect(await findings({ ...facts, isolation, settings: { ...facts.settings, limits } })).toEqual([])
  })

  test.each([['127.0.0.1'], ['127.0.0.9'], ['0.0.0.0'], ['::'], ['::1'], ['::ffff:127.0.0.1'], ['::ffff:0.0.0.0']])(
    'ATK-273 network_open names what listens on %s',
    async (host) => {
      const server = createServer().listen(0, host)
      onTestFinished(() => void server.close())
      await once(server, 'listening')
      const address = server.address()
      const port = address !== null && typeof address === 'object' ? address.port : 0
      const others = Array.from({ length: 65_536 }, (_, each) => each).filter((each) => each !== port)
      expect(await localListeners(others)).toContain(`port ${port}`)
    },
  )

  test('isolation_weak: several people deploy, a token is narrowed, or a proxy on this machine is trusted', async () => {
    const { client } = await world.signedIn('ada@example.org', 'ADMIN')
    await world.signedIn('max@example.org', 'ADMIN')
    const made = await client.post('/auth/admin/api/admintokens', { owner: 'personal', spaces: ['dev'] })
    expect(made.status).toBe(201)
    const trustedProxies = { kind: 'cidrs', cidrs: ['127.0.0.0/8'] } as const
    const found = await findings({ ...facts, settings: { ...facts.settings, trustedProxies } })
    expect(found).toEqual([
      'isolation_weak: 2 people may deploy. Each can read all spaces.',
      expect.stringMatching(/^isolation_weak: The admin token [0-9a-f]{16} is for some spaces only/),
      expect.stringContaining('isolation_weak: `trustedProxies` trusts this machine'),
    ])
  })

  test('isolation_weak: a number of proxies trusts whatever connects to the port', async () => {
    const trustedProxies = { kind: 'hops', count: 1 } as const
    expect(await findings({ ...facts, settings: { ...facts.settings, trustedProxies } })).toHaveLength(1)
    const listen = { kind: 'unix', path: '/run/latchkey/front.sock' } as const
    expect(await findings({ ...facts, settings: { ...facts.settings, trustedProxies, listen } })).toEqual([])
  })

  test('admin_same_site: both URLs are below one domain', async () => {
    const settings = { ...facts.settings, adminUrl: 'https://admin.example.org' }
    expect(await findings({ ...facts, settings })).toEqual([
      'admin_same_site: admin.example.org and api.example.org are below one domain.',
    ])
  })

  test('master_key_unsaved: the key lies in the folder', async () => {
    await writeFile(facts.folder.masterKey, 'key')
    expect(await findings(facts)).toEqual([`master_key_unsaved: The key is in ${facts.folder.masterKey}.`])
  })

  test('generation_lost: a space has data that host.db does not know', async () => {
    const lost = join(facts.folder.spaces, 'a space', 'lost')
    await mkdir(join(lost, 'g2'), { recursive: true })
    await writeFile(join(lost, 'g2', 'g2.db'), '')
    expect(await findings(facts)).toEqual([`generation_lost: ${lost} holds newer data.`])
  })

  test('backup_old: a space has had no backup for 7 days', async () => {
    const week = 7 * 24 * 60 * 60
    const backups = async () => [
      { space: 'dev', since: 0, hasBackup: true },
      { space: 'new', since: 0, hasBackup: false },
      { space: 'prod', since: 1, hasBackup: true },
    ]
    expect(await findings({ ...facts, backups, now: () => week })).toEqual([])
    expect(await findings({ ...facts, backups, now: () => week + 1 })).toEqual([
      'backup_old: The last backup of dev is of 1970-01-01.',
      'backup_old: The space new has no backup.',
    ])
  })

  test('space_crashed: a space is not started any more', async () => {
    expect(await findings({ ...facts, crashedSpaces: async () => ['dev'] })).toEqual([
      'space_crashed: The space dev is in the state crashed.',
    ])
  })
})

test('ATK-154 query_scope: the application scopes rows by a field of the query', async () => {
  const bundle = join(facts.folder.path, 'bundle.mjs')
  await writeFile(bundle, '// index.js\napp.use((req, res, next) => {\n  req.query.userId = req.auth.subject;\n});\n')
  const missing = { space: 'gone', bundle: join(facts.folder.path, 'none') }
  expect(await findings({ ...facts, deployed: async () => [{ space: 'dev', bundle }, missing] })).toEqual([
    'query_scope: The application of the space dev writes a field of the query.',
  ])
})

test.each([
  ['// app.js\nreq.query["user id"] = 1', true],
  ['// app.js\nrequest.query.owner=user', true],
  ['// app.js\nreq.query.q = JSON.stringify(filter)', false],
  ['// app.js\nif (req.query.owner == user) x()', false],
  ['// app.js\nconst f = (req) => req.query.owner', false],
  ['// node_modules/p/index.js\nreq.query.owner = 1', false],
  ['// node_modules/p/index.js\nreq.query.owner = 1\n// app.js\nx()', false],
  ['// node_modules/p/index.js\nx()\n// app.js\nreq.query.owner = 1', true],
])('%j writes a field of the query: %s', (code, writes) => expect(writesQueryField(`\n${code}\n`)).toBe(writes))

test.each([
  ['api.example.org', 'admin.example.org', true],
  ['example.org', 'admin.example.org', true],
  ['api.example.org', 'admin.example.net', false],
  ['api.example.co.uk', 'admin.other.co.uk', false],
  ['api.example.co.uk', 'admin.example.co.uk', true],
  ['192.0.2.1', '192.0.2.2', false],
])('%s and %s are of one site: %s', (one, other, same) => expect(isSameSite(one, other)).toBe(same))
