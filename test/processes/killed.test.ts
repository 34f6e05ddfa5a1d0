import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { TestAnswer, TestClient } from '../../src/testing.js'
import { temporaryFolder } from '../support/auth.js'
import {
  createFleet,
  expectIntact,
  type Fleet,
  mailsTo,
  mailTo,
  orLost,
  password,
  query,
  type ServerProcess,
  signUp,
  tokenOf,
} from '../support/process-server.js'
import { createMoments, type Moments } from '../support/random-moments.js'
import { startSmtpServer, type TestSmtpServer, type TestSmtpServerOptions } from '../support/smtp-server.js'

// Starting processes takes a busy machine its time.
vi.setConfig({ testTimeout: 120_000 })

/** `npm run test:all` kills more often. */
const rounds = process.env.LATCHKEY_TEST_ALL === '1' ? 8 : 5
/** Longer than the outbox leases a mail, so that the next process takes up what the dead one had in hand. */
const afterLeaseMs = 70_000
/** Longer than a proof must stand before a refresh token is replaced. */
const afterProofMs = 40_000

interface Scene {
  fleet: Fleet
  file: string
  smtp: TestSmtpServer
  moments: Moments
  start(aheadMs?: number): Promise<ServerProcess>
}

async function setScene(seed: number, options: TestSmtpServerOptions = {}): Promise<Scene> {
  const smtp = await startSmtpServer(options)
  onTestFinished(() => smtp.close())
  const fleet = createFleet()
  const file = join(temporaryFolder(), 'latchkey.db')
  return {
    fleet,
    file,
    smtp,
    moments: createMoments(seed),
    async start(aheadMs = 0) {
      const server = await fleet.start({ file, smtp: smtp.url, aheadMs })
      fleet.prepare()
      expect((await server.client().get('/control/ready')).status).toBe(204)
      return server
    },
  }
}

/** Lets the askings run until the random moment, kills the process, and says what each had been answered by then. */
async function killDuring<Answer>(
  server: ServerProcess,
  { moments }: Scene,
  askings: readonly (() => Promise<Answer>)[],
): Promise<(Answer | null)[]> {
  const answers = Promise.all(askings.map((ask) => orLost(ask())))
  await moments.wait(answers)
  await server.kill()
  const known = await answers
  moments.learn(known.map((answer) => answer !== null))
  return known
}

test('a process killed while it makes its file leaves one that the next makes whole', async () => {
  const smtp = await startSmtpServer()
  onTestFinished(() => smtp.close())
  const fleet = createFleet()
  const moments = createMoments(5)
  for (let round = 0; round < rounds; round += 1) {
    const file = join(temporaryFolder(), 'latchkey.db')
    const server = await fleet.start({ file, smtp: smtp.url })
    fleet.prepare()
    const ready = [orLost(server.client().get('/control/ready'))]
    await moments.wait(Promise.all(ready))
    await server.kill()
    moments.learn((await Promise.all(ready)).map((answer) => answer !== null))

    const next = await fleet.start({ file, smtp: smtp.url })
    fleet.prepare()
    const address = `first-${round}@example.test`
    if (round % 5 === 0) await signUp(next, smtp, address)
    else expect((await next.client().get('/control/ready')).status).toBe(204)
    expectIntact(file)
    expect(query(file, 'select count(*) as made from latchkey_installation')).toEqual([{ made: 1 }])
    await next.kill()
  }
  expect(moments.hits()).toBeGreaterThan(1)
})

test('a process killed while people register owes nobody a mail: every 202 is followed by one that confirms', async () => {
  const scene = await setScene(1)
  const { smtp, file, moments } = scene
  const promised: { email: string; browser: TestClient }[] = []
  const lost: string[] = []

  for (let round = 0; round < rounds; round += 1) {
    const server = await scene.start(round * afterLeaseMs)
    const visitors = Array.from({ length: 4 }, (_, index) => ({
      email: `visitor-${round}-${index}@example.test`,
      browser: server.client(),
    }))
    const register = ({ email, browser }: (typeof visitors)[number]) =>
      browser.post('/auth/register', { email, password })
    const answers = await killDuring(
      server,
      scene,
      visitors.map((visitor) => () => register(visitor)),
    )
    for (const [index, visitor] of visitors.entries()) {
      const answer = answers[index]
      if (answer) expect(answer.status).toBe(202)
      if (answer) promised.push(visitor)
      else lost.push(visitor.email)
    }
  }
  expect(moments.hits()).toBeGreaterThan(rounds / 4)

  const server = await scene.start(rounds * afterLeaseMs)
  for (const { email, browser } of promised) {
    const token = tokenOf(await mailTo(smtp, email))
    expect((await server.client(browser).post('/auth/verify-email', { token })).status, email).toBe(200)
  }
  for (const email of lost) await signUp(server, smtp, email)
  expectIntact(file)
  expect(query(file, 'select count(*) as users from latchkey_users')).toEqual([{ users: 4 * rounds }])
})

test('a process killed while people confirm loses no account: whoever was told 200 is signed in and can sign in', async () => {
  const scene = await setScene(2)
  const { smtp, file, moments } = scene
  const first = await scene.start()
  const people: Person[] = []
  for (let round = 0; round < rounds; round += 1) {
    people.push(
      ...(await Promise.all([0, 1, 2].map((index) => applicant(first, smtp, `person-${round}-${index}@example.test`)))),
    )
  }
  await first.kill()

  let before: Confirmation[] = []
  for (let round = 0; round < rounds; round += 1) {
    const server = await scene.start()
    await expectAccounts(server, before)
    expectIntact(file)
    const chosen = people
      .slice(3 * round, 3 * round + 3)
      .map((person) => ({ ...person, browser: server.client(person.browser) }))
    const confirm = ({ browser, token }: Person) => browser.post('/auth/verify-email', { token })
    const answers = await killDuring(
      server,
      scene,
      chosen.map((person) => () => confirm(person)),
    )
    before = chosen.map((person, index) => ({ ...person, answer: answers[index] ?? null }))
  }
  expect(moments.hits()).toBeGreaterThan(rounds / 4)

  await expectAccounts(await scene.start(), before)
  expectIntact(file)
  expect(query(file, 'select count(*) as users from latchkey_users')).toEqual([{ users: people.length }])
})

interface Person {
  email: string
  browser: TestClient
  token: string
}

interface Confirmation extends Person {
  /** Null: the process died over it. */
  answer: TestAnswer | null
}

async function applicant(server: ServerProcess, smtp: TestSmtpServer, email: string): Promise<Person> {
  const browser = server.client()
  expect((await browser.post('/auth/register', { email, password })).status).toBe(202)
  return { email, browser, token: tokenOf(await mailTo(smtp, email)) }
}

async function expectAccounts(server: ServerProcess, confirmations: readonly Confirmation[]): Promise<void> {
  for (const { email, browser, token, answer } of confirmations) {
    const again = server.client(browser)
    if (answer) {
      expect(answer.status).toBe(200)
      expect((await again.get('/api/me')).body).toMatchObject({ kind: 'session', email })
    } else {
      const { status } = await again.post('/auth/verify-email', { token })
      expect([200, 400]).toContain(status)
    }
    expect((await server.client().post('/auth/login', { email, password })).status, email).toBe(200)
  }
}

test('ATK-069 a process killed while tabs refresh signs nobody out, whichever answers were lost', async () => {
  const scene = await setScene(3)
  const { smtp, file, moments } = scene
  const first = await scene.start()
  let jars = await Promise.all(
    Array.from({ length: 4 }, (_, index) => signUp(first, smtp, `holder-${index}@example.test`)),
  )
  await first.kill()
  const rotations = () => query(file, 'select sum(counter) as risen from latchkey_sessions')

  for (let round = 0; round < rounds; round += 1) {
    const server = await scene.start(round * afterProofMs)
    jars = jars.map((jar) => server.client(jar))
    for (const jar of jars) {
      expect((await jar.refresh()).status).toBe(200)
      expect((await jar.get('/api/me')).status).toBe(200)
    }
    await server.client().post(`/control/advance?ms=${afterProofMs}`)
    const tabs = jars.flatMap((jar) => [jar, jar])
    await killDuring(
      server,
      scene,
      tabs.map((jar) => () => jar.refresh()),
    )
  }
  expect(moments.hits()).toBeGreaterThan(rounds / 4)

  const server = await scene.start(rounds * afterProofMs)
  for (const jar of jars.map((jar) => server.client(jar))) {
    expect((await jar.refresh()).status).toBe(200)
    expect((await jar.get('/api/me')).status).toBe(200)
  }
  expectIntact(file)
  expect(rotations()).not.toEqual([{ risen: 0 }])
  expect(query(file, "select id from latchkey_audit where event = 'refresh_token_reuse'")).toEqual([])
})

test('a process killed while it mails loses no mail; one that the server had taken may come twice, with one id', async () => {
  let onAccepted = async () => {}
  const scene = await setScene(4, {
    async refuseMessage() {
      await onAccepted()
      return null
    },
  })
  const { smtp, file, moments } = scene
  const addresses: string[] = []

  for (let round = 0; round < rounds; round += 1) {
    onAccepted = async () => {}
    const server = await scene.start(round * afterLeaseMs)
    let left = 1 + moments.below(3)
    const beforeAnswer = moments.below(2) === 0
    const killed = new Promise<void>((resolve) => {
      onAccepted = async () => {
        left -= 1
        if (left !== 0) return
        // Either our server has the mail and the process never hears of it, or it dies soon after it has heard.
        if (beforeAnswer) await server.kill()
        else setTimeout(() => void server.kill(), moments.below(6))
        resolve()
      }
    })
    const asked = Array.from({ length: 3 }, (_, index) => `reader-${round}-${index}@example.test`)
    const answers = await Promise.all(
      asked.map((email) => orLost(server.client().post('/auth/register', { email, password }))),
    )
    addresses.push(...asked.filter((_, index) => answers[index]?.status === 202))
    await killed
    await server.kill()
  }
  onAccepted = async () => {}

  const last = await scene.start(rounds * afterLeaseMs)
  for (const address of addresses) await mailTo(smtp, address)
  expect((await last.stop()).code).toBe(0)
  const times = addresses.map((address) => mailsTo(smtp, address))
  expect(times.every((mails) => new Set(mails.map((mail) => mail.messageId)).size === 1)).toBe(true)
  expect(times.some((mails) => mails.length > 1)).toBe(true)
  expect(query(file, 'select id from latchkey_outbox')).toEqual([])
  expectIntact(file)
})
