import { statSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { SqliteDialect } from 'kysely'
import { expect, it } from 'vitest'
import type { TestMailbox, TestRuntime } from '../../src/testing.js'
import { type TestAuth, temporaryFolder, testAuth } from '../support/auth.js'

/** Traffic every other day; `LATCHKEY_YEAR=20 npx vitest run --config test/vitest.config.ts test/wiring/year.test.ts` for more. */
const visits = Number(process.env.LATCHKEY_YEAR ?? 1)
const users = 20
const dayMs = 86_400_000
const password = 'correct horse battery'

/** How much there is: rows of every table, and the pages of the database with those that are free to be used again. */
type Sizes = Readonly<Record<string, number>>

function measure(database: Database.Database): Sizes {
  const names = database
    .prepare<[], { name: string }>("select name from sqlite_master where type = 'table' and name like 'latchkey%'")
    .all()
  const count = (table: string) =>
    Number(database.prepare<[], { count: number }>(`select count(*) as count from ${table}`).get()?.count)
  const rows = names.map(({ name }): [string, number] => [name.replace('latchkey_', ''), count(name)])
  return { ...Object.fromEntries(rows), pages: Number(database.pragma('page_count', { simple: true })) }
}

/** What people and programs do: users come back, get codes and new passwords; strangers come and never return. */
async function visit({ auth, client, mailbox }: Omit<TestAuth, 'passed'>, day: number): Promise<void> {
  for (let nth = 0; nth < visits; nth += 1) {
    const turn = (day / 2) * visits + nth
    const email = `user-${turn % users}@example.test`
    const browser = client({ ip: `198.51.${turn % 250}.${Math.floor(turn / 250) % 250}` })
    await browser.signIn({ email, password })
    expect((await browser.get('/api/notes')).status).toBe(200)
    await browser.refresh()
    if (turn % 3 === 0) await byCode(client({ ip: `203.0.113.${turn % 250}` }), mailbox, email)
    if (turn % 4 === 0) await browser.post('/auth/password/forgot', { email })
    if (turn % 5 === 0) await browser.signOut()
    if (turn % 7 === 0) await auth.apiTokens.create({ name: 'short', expiresAt: atNoon(day + 2) })
    const stranger = client({ ip: `192.0.2.${turn % 250}` })
    await stranger.post('/auth/register', { email: `stranger-${turn}@example.test`, password })
    await client({ as: 'server', ip: `203.0.113.${turn % 250}` }).get('/api/notes', {
      headers: { 'x-apikey': `00000000-0000-4000-8000-${String(turn).padStart(12, '0')}` },
    })
  }
}

const start = Date.UTC(2026, 0, 1)
const atNoon = (day: number) => new Date(start + day * dayMs + dayMs / 2)

async function byCode(browser: ReturnType<TestAuth['client']>, mailbox: TestMailbox, email: string): Promise<void> {
  await browser.post('/auth/otp', { email })
  const code = mailbox.code(await mailbox.waitFor(email, /code/i))
  expect((await browser.post('/auth/otp/verify', { email, code })).status).toBe(200)
}

async function live(world: Omit<TestAuth, 'passed'>, runtime: TestRuntime, from: number, to: number): Promise<void> {
  for (let day = from; day < to; day += 2) {
    await visit(world, day)
    await runtime.clock.set(start + (day + 2) * dayMs)
    // A night in which housekeeping finishes what it has begun.
    await runtime.clock.advance('2s')
  }
}

it('a year and a half leaves no more than a year did: rows, pages and write-ahead log stay bounded', async () => {
  const file = join(temporaryFolder(), 'latchkey.db')
  const database = new Database(visits === 1 ? ':memory:' : file)
  database.pragma('journal_mode = wal')
  const world = await testAuth({
    database: new SqliteDialect({ database }),
    limits: {},
    registration: { emailVerification: 'required' },
  })
  for (let nth = 0; nth < users; nth += 1) {
    await world.auth.users.create({ email: `user-${nth}@example.test`, password, emailVerified: true })
  }
  await live(world, world.runtime, 0, 430)
  const first = measure(database)
  await live(world, world.runtime, 430, 600)
  const second = measure(database)

  for (const [name, after] of Object.entries(second)) {
    const before = first[name] ?? 0
    // Users come by turns, so that the very number depends on the day.
    expect(after, `${name}: ${before} rows or pages after 430 days, ${after} after 600`).toBeLessThanOrEqual(
      before * 1.1 + 10,
    )
  }
  expect(second.users).toBe(users)
  // Audit events of 400 days; everything else is gone within weeks.
  expect(second.audit).toBeGreaterThan(200 * visits)
  expect(second.one_time_tokens).toBeLessThan(30 * visits)
  expect(second.counters).toBeLessThan(30 * visits)
  expect(second.api_tokens).toBeLessThan(10 * visits)
  expect(await world.auth.audit.verify()).toEqual({ ok: true, brokenAt: null })
  if (visits > 1) expect(statSync(`${file}-wal`).size).toBeLessThan(20 * 1024 * 1024)
}, 600_000)
