import { describe, expect, onTestFinished, test, vi } from 'vitest'
import {
  codeOf,
  createFleet,
  mailTo,
  password,
  type ServerProcess,
  signUp,
  tokenOf,
} from '../support/process-server.js'
import { createDatabase, type ServerKind, type TestDatabase } from '../support/servers.js'
import { startSmtpServer, type TestSmtpServer } from '../support/smtp-server.js'

// Starting processes takes a busy machine its time.
vi.setConfig({ testTimeout: 120_000 })

const ada = 'ada@example.test'

/** News may be so old that nobody reads it for a request: what another process knows came by the feed. */
const patient = { revocation: { staleness: '1m' as const } }

interface Pair {
  here: ServerProcess
  there: ServerProcess
  database: TestDatabase
  smtp: TestSmtpServer
}

async function startPair(kind: ServerKind): Promise<Pair> {
  const [smtp, database] = await Promise.all([startSmtpServer(), createDatabase(kind)])
  onTestFinished(() => smtp.close())
  const fleet = createFleet()
  const start = () => fleet.start({ file: '', smtp: smtp.url, settings: { database: database.url, ...patient } })
  const [here, there] = await Promise.all([start(), start()])
  onTestFinished(() => database.close())
  return { here, there, database, smtp }
}

const statuses = (answers: readonly { status: number }[]) => answers.map(({ status }) => status)

describe.each<ServerKind>(['postgres', 'mysql'])('two processes on one %s', (kind) => {
  test('are one application: what begins in one goes on in the other, and a session ends in both', async () => {
    const { here, there, smtp } = await startPair(kind)
    const browser = await signUp(here, smtp, ada)
    const elsewhere = there.client(browser)
    expect((await elsewhere.get('/api/me')).body).toMatchObject({ kind: 'session', email: ada })
    expect((await there.client().post('/auth/login', { email: ada, password })).status).toBe(200)

    expect((await browser.signOut()).status).toBe(204)
    const kept = () => elsewhere.get('/api/me').then((answer) => [answer.status, codeOf(answer)])
    // A second is the promise. The bound here is what a busy machine needs.
    await expect.poll(kept, { interval: 20 }).toEqual([401, 'token_revoked'])
  })

  test('ATK-069 forty refreshes at once over both give one successor, byte for byte, and sign nobody out', async () => {
    const { here, there, database, smtp } = await startPair(kind)
    const browser = await signUp(here, smtp, ada)
    for (const counter of [1, 2]) {
      const tabs = Array.from({ length: 20 }, () => [here.client(browser), there.client(browser)]).flat()
      const answers = await Promise.all(tabs.map((tab) => tab.refresh()))
      expect(new Set(statuses(answers))).toEqual(new Set([200]))
      expect(new Set(tabs.map((tab) => tab.cookies.get('refresh-token'))).size).toBe(1)
      const [row] = await database.query('select counter from latchkey_sessions')
      expect(Number(row?.counter)).toBe(counter)

      for (const cookie of tabs[0]?.cookies.all() ?? []) browser.cookies.put(cookie)
      const seen = [here, there].map((server) => server.client(browser).get('/api/me'))
      expect(statuses(await Promise.all(seen))).toEqual([200, 200])
      for (const server of [here, there]) await server.client().post('/control/advance?ms=40000')
      // The proof of a rotation is older by the clock of the server, which no test can set forward.
      await expect
        .poll(() => database.query('select proven_at_ms from latchkey_sessions where proven_at_ms is not null'))
        .toHaveLength(1)
      await database.query('update latchkey_sessions set proven_at_ms = proven_at_ms - 40000')
    }
  })

  test('twenty confirmations of one link make one account', async () => {
    const { here, there, database, smtp } = await startPair(kind)
    const browser = here.client()
    expect((await browser.post('/auth/register', { email: ada, password })).status).toBe(202)
    const token = tokenOf(await mailTo(smtp, ada))
    const clicks = Array.from({ length: 10 }, () => [here.client(browser), there.client(browser)]).flat()
    const answers = await Promise.all(clicks.map((click) => click.post('/auth/verify-email', { token })))
    expect(statuses(answers).sort()).toEqual([200, ...Array.from({ length: 19 }, () => 400)])
    expect(await database.query('select id from latchkey_users')).toHaveLength(1)
    expect(await database.query('select id from latchkey_sessions')).toHaveLength(1)
  })
})
