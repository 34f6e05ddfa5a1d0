import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { TestClient } from '../../src/testing.js'
import { temporaryFolder } from '../support/auth.js'
import {
  codeOf,
  createFleet,
  expectIntact,
  mailTo,
  orLost,
  password,
  query,
  type ServerOptions,
  type ServerProcess,
  signUp,
  tokenOf,
} from '../support/process-server.js'
import { createMoments } from '../support/random-moments.js'
import { startSmtpServer, type TestSmtpServer } from '../support/smtp-server.js'

// Starting processes takes a busy machine its time.
vi.setConfig({ testTimeout: 120_000 })

const ada = 'ada@example.test'

interface Pair {
  here: ServerProcess
  there: ServerProcess
  file: string
  smtp: TestSmtpServer
  /** One more process of the same application. */
  restart(options: Partial<ServerOptions>): Promise<ServerProcess>
}

/** Two processes that both find a new file and begin at the same time. */
async function startPair(options: Partial<ServerOptions> = {}): Promise<Pair> {
  const smtp = await startSmtpServer()
  onTestFinished(() => smtp.close())
  const fleet = createFleet()
  const file = join(temporaryFolder(), 'latchkey.db')
  // News may be so old that nobody reads it for a request: what another process knows came by the feed.
  const settings = { revocation: { staleness: '1m' as const }, ...options.settings }
  const start = (more: Partial<ServerOptions> = {}) =>
    fleet.start({ file, smtp: smtp.url, ...options, settings, ...more })
  const [here, there] = await Promise.all([start(), start()])
  return { here, there, file, smtp, restart: start }
}

/** The same browser at both. */
function both({ here, there }: Pick<Pair, 'here' | 'there'>, browser: TestClient): [TestClient, TestClient] {
  return [here.client(browser), there.client(browser)]
}

const statuses = (answers: readonly { status: number }[]) => answers.map(({ status }) => status)

test('two processes that find a new file at the same time make one installation of it', async () => {
  for (let round = 0; round < 3; round += 1) {
    const pair = await startPair()
    const ready = await Promise.all([pair.here, pair.there].map((each) => each.client().get('/control/ready')))
    expect(statuses(ready)).toEqual([204, 204])
    expect(query(pair.file, 'select id from latchkey_installation')).toHaveLength(1)
    expectIntact(pair.file)

    const browser = await signUp(pair.here, pair.smtp, ada)
    expect((await pair.there.client(browser).get('/api/me')).body).toMatchObject({ kind: 'session', email: ada })
    await Promise.all([pair.here.kill(), pair.there.kill()])
  }
})

test('ATK-063 signing out in one process is felt in the other', async () => {
  const pair = await startPair()
  await signUp(pair.here, pair.smtp, ada)
  const ends = [
    { end: logOut, code: 'token_revoked' },
    { end: endElsewhere, code: 'token_revoked' },
    { end: deleteAccount, code: 'token_expired' },
  ]
  for (const { end, code } of ends) {
    const browser = pair.here.client()
    expect((await browser.post('/auth/login', { email: ada, password })).status).toBe(200)
    const [, elsewhere] = both(pair, browser)
    expect((await elsewhere.get('/api/me')).status).toBe(200)

    await end(browser, pair.here)
    const kept = () => elsewhere.get('/api/me').then((answer) => [answer.status, codeOf(answer)])
    // A second is the promise. The bound here is what a busy machine needs.
    await expect.poll(kept, { interval: 20 }).toEqual([401, code])
  }
})

async function logOut(browser: TestClient): Promise<void> {
  expect((await browser.signOut()).status).toBe(204)
}

async function endElsewhere(browser: TestClient, server: ServerProcess): Promise<void> {
  const other = server.client()
  expect((await other.post('/auth/login', { email: ada, password })).status).toBe(200)
  expect((await other.delete('/auth/sessions')).status).toBe(204)
  expect((await browser.get('/api/me')).status).toBe(401)
}

async function deleteAccount(browser: TestClient): Promise<void> {
  expect((await browser.delete('/auth/me', { password })).status).toBe(204)
}

test('ATK-069 fifty refreshes at once over two processes give one successor, byte for byte, and sign nobody out', async () => {
  const pair = await startPair()
  const browser = await signUp(pair.here, pair.smtp, ada)
  const proofMs = 40_000

  for (const counter of [1, 2, 3]) {
    const tabs = Array.from({ length: 25 }, () => both(pair, browser)).flat()
    const answers = await Promise.all(tabs.map((tab) => tab.refresh()))
    expect(new Set(statuses(answers))).toEqual(new Set([200]))
    const successors = new Set(tabs.map((tab) => tab.cookies.get('refresh-token')))
    expect(successors.size).toBe(1)
    expect(successors).not.toContain(browser.cookies.get('refresh-token'))
    expect(query(pair.file, 'select counter from latchkey_sessions')).toEqual([{ counter }])

    for (const cookie of tabs[0]?.cookies.all() ?? []) browser.cookies.put(cookie)
    const seen = await Promise.all(both(pair, browser).map((each) => each.get('/api/me')))
    expect(statuses(seen)).toEqual([200, 200])
    for (const server of [pair.here, pair.there]) await server.client().post(`/control/advance?ms=${proofMs}`)
  }
})

test('ATK-069 one of two processes that is killed while tabs refresh signs nobody out at the other, nor when it is back', async () => {
  const pair = await startPair()
  const moments = createMoments(6)
  const proofMs = 40_000
  let there = pair.there
  let jars = await Promise.all([0, 1, 2].map((index) => signUp(pair.here, pair.smtp, `holder-${index}@example.test`)))

  for (let round = 1; round <= 8; round += 1) {
    const tabs = jars.map((jar) => both({ here: pair.here, there }, jar))
    const answers = Promise.all(tabs.flat().map((tab) => orLost(tab.refresh())))
    await moments.wait(answers)
    await there.kill()
    moments.learn((await answers).map((answer) => answer !== null))

    // One jar for both tabs: it holds what either of them was given last.
    jars = tabs.map(([here, elsewhere]) => pair.here.client(moments.below(2) === 0 ? here : elsewhere))
    for (const jar of jars) {
      expect((await jar.refresh()).status).toBe(200)
      expect((await jar.get('/api/me')).status).toBe(200)
    }
    await pair.here.client().post(`/control/advance?ms=${proofMs}`)
    there = await pair.restart({ aheadMs: round * proofMs })
    for (const jar of jars) expect((await there.client(jar).get('/api/me')).status).toBe(200)
  }
  expect(query(pair.file, "select id from latchkey_audit where event = 'refresh_token_reuse'")).toEqual([])
  expect(query(pair.file, 'select min(counter) > 1 as rotated from latchkey_sessions')).toEqual([{ rotated: 1 }])
  expectIntact(pair.file)
})

test('ATK-072 refreshes in both processes while the session is ended leave no token that still works', async () => {
  const pair = await startPair()
  const owner = await signUp(pair.here, pair.smtp, ada)
  for (let round = 0; round < 8; round += 1) {
    const browser = pair.here.client()
    expect((await browser.post('/auth/login', { email: ada, password })).status).toBe(200)
    const tabs = [...both(pair, browser), ...both(pair, browser)]
    const ending = round % 2 === 0 ? browser.signOut() : owner.delete('/auth/sessions')
    const answers = await Promise.all(tabs.map((tab) => tab.refresh()))
    for (const answer of answers) expect([200, 'token_revoked']).toContain(answer.status === 200 ? 200 : codeOf(answer))
    expect((await ending).status).toBe(204)

    for (const tab of tabs) {
      await expect.poll(() => tab.get('/api/me').then(({ status }) => status)).toBe(401)
      expect(codeOf(await tab.refresh())).toBe('token_revoked')
    }
  }
  expect((await owner.get('/api/me')).status).toBe(200)
  expect((await pair.there.client(owner).get('/api/me')).status).toBe(200)
})

test('twenty confirmations of one link over two processes make one account and one session', async () => {
  const pair = await startPair()
  for (let round = 0; round < 5; round += 1) {
    const email = `ada-${round}@example.test`
    const browser = pair.here.client()
    expect((await browser.post('/auth/register', { email, password })).status).toBe(202)
    const token = tokenOf(await mailTo(pair.smtp, email))

    const clicks = Array.from({ length: 10 }, () => both(pair, browser)).flat()
    const answers = await Promise.all(clicks.map((click) => click.post('/auth/verify-email', { token })))
    expect(statuses(answers).sort()).toEqual([200, ...Array.from({ length: 19 }, () => 400)])
    expect(query(pair.file, 'select count(*) as users from latchkey_users')).toEqual([{ users: round + 1 }])
    expect(query(pair.file, 'select count(*) as sessions from latchkey_sessions')).toEqual([{ sessions: round + 1 }])
  }
})

test('ATK-076 a process that was paused for longer than news may be old lets no revoked token pass when it wakes', async () => {
  const pair = await startPair({ settings: { revocation: { staleness: '1s' } } })
  const stays = pair.there.client(await signUp(pair.here, pair.smtp, ada))

  for (let round = 0; round < 3; round += 1) {
    const { here, asleep } = await visitor(pair)
    const { first, unrevoked } = await sleepThrough(pair, () => here.signOut(), asleep, stays)
    for (const answer of first) expect(['token_revoked', 'store_unavailable']).toContain(codeOf(answer))
    expect([200, 503]).toContain(unrevoked.status)
    await expect.poll(() => stays.get('/api/me').then(({ status }) => status)).toBe(200)
    expect(codeOf(await asleep.get('/api/me'))).toBe('token_revoked')
  }
})

test('ATK-076 a process that wakes up without its store lets nobody pass until it has read what was revoked', async () => {
  const { there: other, ...rest } = await startPair({ settings: { revocation: { staleness: '1s' } } })
  await other.kill()
  const pair = { ...rest, there: await rest.restart({ breakable: true }) }
  const stays = pair.there.client(await signUp(pair.here, pair.smtp, ada))
  const control = pair.there.client()

  const { here, asleep } = await visitor(pair)
  await control.post('/control/store?down=true')
  const { first, unrevoked } = await sleepThrough(pair, () => here.signOut(), asleep, stays)
  for (const answer of [...first, unrevoked]) {
    expect([answer.status, codeOf(answer)]).toEqual([503, 'store_unavailable'])
    expect(answer.headers.get('retry-after')).toBe('1')
  }

  await control.post('/control/store?down=false')
  await expect.poll(() => stays.get('/api/me').then(({ status }) => status)).toBe(200)
  expect(codeOf(await asleep.get('/api/me'))).toBe('token_revoked')
})

/** Somebody who signs in here, and is known there as well. */
async function visitor(pair: Pair): Promise<{ here: TestClient; asleep: TestClient }> {
  const browser = pair.here.client()
  expect((await browser.post('/auth/login', { email: ada, password })).status).toBe(200)
  const [here, asleep] = both(pair, browser)
  await expect.poll(() => asleep.get('/api/me').then(({ status }) => status)).toBe(200)
  return { here, asleep }
}

/** Pauses the process there, revokes here meanwhile, and wakes it with requests that wait at its door. */
async function sleepThrough(
  { there }: Pair,
  revoke: () => Promise<{ status: number }>,
  revoked: TestClient,
  unrevoked: TestClient,
) {
  there.signal('SIGSTOP')
  expect((await revoke()).status).toBe(204)
  await new Promise((resolve) => setTimeout(resolve, 1_300))
  const asked = Array.from({ length: 4 }, () => revoked.get('/api/me'))
  const other = unrevoked.get('/api/me')
  there.signal('SIGCONT')
  return { first: await Promise.all(asked), unrevoked: await other }
}
