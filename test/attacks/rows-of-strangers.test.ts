import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import type { Route } from '../../src/http/route.js'
import { routes } from '../../src/routes/index.js'
import { createOAuthPeer, createTestRuntime } from '../../src/testing.js'
import { temporaryFolder, testAuth } from '../support/auth.js'
import { ipOf } from '../support/limits.js'

const origin = 'http://localhost:3000'

/** A Latchkey with every limit and every route, whose database counts the rows that each table gets. */
async function watched() {
  const file = join(temporaryFolder(), 'latchkey.db')
  const peer = createOAuthPeer()
  const runtime = createTestRuntime({ clock: peer.clock, fetch: peer.fetch })
  const { auth } = await testAuth(
    { ...peer.settings, limits: {}, database: `sqlite:${file}`, admin: { emails: ['root@example.test'] } },
    runtime,
  )
  const database = new Database(file)
  onTestFinished(() => void database.close())
  database.exec('create table made (name text primary key, rows integer not null)')
  const tables = database.prepare<[], { name: string }>(
    "select name from sqlite_schema where type = 'table' and name like 'latchkey\\_%' escape '\\'",
  )
  for (const { name } of tables.all()) {
    database.exec(`insert into made values ('${name}', 0)`)
    database.exec(
      `create trigger made_${name} after insert on ${name} begin update made set rows = rows + 1 where name = '${name}'; end`,
    )
  }
  const taken = database.prepare<[], { name: string; rows: number }>(
    'select substr(name, 10) as name, rows from made where rows > 0 order by name',
  )
  return {
    auth,
    runtime,
    count(...names: readonly string[]): Readonly<Record<string, number>> {
      const rowsOf = (name: string) =>
        database.prepare<[], { rows: number }>(`select count(*) as rows from latchkey_${name}`).get()?.rows ?? 0
      return Object.fromEntries(names.map((name) => [name, rowsOf(name)]))
    },
    /** The rows since the last call, by table. */
    made() {
      const rows = taken.all().map(({ name, rows }): [string, number] => [name, rows])
      database.exec('update made set rows = 0')
      return rows
    },
  }
}

/** An address of its own for each request, so that no limit of an address or account takes rows away. */
const addressOf = (at: number) => `stranger${at}@example${at}.test`
const password = 'correct horse battery'
const secret = 'x'.repeat(43)

/** What a stranger sends to write as many rows as possible. A route without an entry gets an empty body. */
const bodies: Readonly<Record<string, (at: number) => Readonly<Record<string, unknown>>>> = {
  'POST /register': (at) => ({ email: addressOf(at), password, name: 'A' }),
  'POST /verify-email': (at) => ({ email: addressOf(at), code: '12345678', password }),
  'POST /verify-email/resend': (at) => ({ email: addressOf(at) }),
  'POST /login': (at) => ({ email: addressOf(10_000 + at), password }),
  'POST /login/two-factor': () => ({ challenge: secret, code: '123456' }),
  'POST /login/two-factor/options': () => ({ challenge: secret }),
  'POST /otp': (at) => ({ email: addressOf(20_000 + at) }),
  'POST /otp/verify': (at) => ({ email: addressOf(20_000 + at), code: '12345678' }),
  'POST /password/forgot': (at) => ({ email: addressOf(30_000 + at) }),
  'POST /password/reset': () => ({ token: secret, password }),
  'POST /email/confirm': () => ({ token: secret }),
  'POST /email/undo': () => ({ token: secret }),
  'POST /register/identity': (at) => ({ email: addressOf(40_000 + at) }),
  'POST /oauthcallback/:provider': () => ({ state: secret, code: 'x' }),
  'POST /admin/api/device': () => ({ client: 'laptop', challenge: secret }),
  'POST /admin/api/device/token': () => ({ handle: secret, verifier: secret }),
}
const queries: Readonly<Record<string, string>> = {
  'GET /oauthcallback/:provider': `?state=${secret}&code=x`,
  'GET /reset': `?token=${secret}`,
}

const keyOf = ({ method, path }: Route) => `${method} ${path}`

/** A tool that signs in is no browser, and says so by having no origin. */
function requestTo(route: Route, at: number): Request {
  const key = keyOf(route)
  const path = route.path.replaceAll(':provider', 'google').replaceAll(/:\w+/g, 'x')
  const url = `${origin}${route.root ? '' : '/auth'}${path}${queries[key] ?? ''}`
  if (route.method === 'GET') return new Request(url, { redirect: 'manual' })
  const headers = { 'content-type': 'application/json', ...(!path.includes('/device') && { origin }) }
  return new Request(url, { method: route.method, headers, body: JSON.stringify(bodies[key]?.(at) ?? {}) })
}

/** No limit takes so many away. Times 125 they are the rows of 1,000. */
const asked = 8
const columns = ['audit', 'one_time_tokens', 'counters', 'outbox']

/** The table of the page: what a route writes for each further request of an address. */
async function measured({ auth, made }: Awaited<ReturnType<typeof watched>>) {
  const table: string[][] = []
  for (const [number, route] of routes.entries()) {
    const ask = async (at: number) => auth.fetch(requestTo(route, 10 * number + at), { ip: ipOf(number) })
    await ask(asked)
    made()
    const statuses: number[] = []
    for (let at = 0; at < asked; at += 1) statuses.push((await ask(at)).status)
    expect([keyOf(route), statuses.filter((status) => status === 429 || status >= 500)]).toEqual([keyOf(route), []])
    const rows = new Map(made())
    expect([...rows.keys()].filter((name) => !columns.includes(name))).toEqual([])
    const cells = columns.map((name) => String(((rows.get(name) ?? 0) * 1000) / asked))
    if (rows.size > 0) table.push([`${route.method} \`${route.path}\``, `\`${route.limit}\``, ...cells])
  }
  return table
}

test('ATK-295 each public route writes as many rows for strangers as the threat model says', async () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/security.md'), 'utf8')
  const section = page.split('## Rows that strangers make')[1]?.split('\n## ')[0] ?? ''
  const lines = section.split('\n').filter((line) => /^\| (?:GET|POST|PATCH|DELETE) /.test(line))
  const written = lines.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll(',', '')),
  )
  expect(await measured(await watched())).toEqual(written)
})

test('ATK-295 the rows of strangers are all deleted in time', async () => {
  const world = await watched()
  await measured(world)
  const kept = world.count(...columns)
  expect(kept.audit).toBeGreaterThan(0)
  const { clock } = world.runtime
  const after = async (days: number) => {
    await clock.set(clock.now() + days * 86_400_000)
    for (let round = 0; round < 40; round += 1) await clock.advance('1m')
    return world.count(...columns)
  }
  expect(await after(2)).toMatchObject({ audit: kept.audit, one_time_tokens: 0, outbox: 0 })
  expect(await after(364)).toMatchObject({ audit: kept.audit, counters: 0 })
  // The newest event stays as the end of the chain.
  expect(await after(35)).toEqual({ audit: 1, one_time_tokens: 0, counters: 0, outbox: 0 })
})
