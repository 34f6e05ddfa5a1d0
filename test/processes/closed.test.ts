import { copyFileSync, existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { temporaryFolder } from '../support/auth.js'
import {
  codeOf,
  createFleet,
  expectIntact,
  type Fleet,
  mailsTo,
  mailTo,
  password,
  query,
  signUp,
  tokenOf,
} from '../support/process-server.js'
import { startSmtpServer, type TestSmtpServer, type TestSmtpServerOptions } from '../support/smtp-server.js'

// Starting processes takes a busy machine its time.
vi.setConfig({ testTimeout: 120_000 })

const ada = 'ada@example.test'

async function setScene(
  options: TestSmtpServerOptions = {},
): Promise<{ fleet: Fleet; file: string; smtp: TestSmtpServer }> {
  const smtp = await startSmtpServer(options)
  onTestFinished(() => smtp.close())
  return { fleet: createFleet(), file: join(temporaryFolder(), 'latchkey.db'), smtp }
}

test('a process that is asked to end sends the mail that is due, writes what it has seen, and ends by itself', async () => {
  let isSlow = false
  const { fleet, file, smtp } = await setScene({
    async refuseMessage() {
      if (isSlow) await new Promise((resolve) => setTimeout(resolve, 100))
      return null
    },
  })
  const server = await fleet.start({ file, smtp: smtp.url })
  const browser = await signUp(server, smtp, ada)
  expect((await browser.refresh()).status).toBe(200)
  const proven = () => query(file, 'select counter, proven_at_ms is not null as proven from latchkey_sessions')
  expect(proven()).toEqual([{ counter: 1, proven: 0 }])

  isSlow = true
  const addresses = Array.from({ length: 15 }, (_, index) => `reader-${index}@example.test`)
  const asked = addresses.map((email) => server.client().post('/auth/register', { email, password }))
  for (const answer of await Promise.all(asked)) expect(answer.status).toBe(202)
  expect((await browser.get('/api/me')).status).toBe(200)
  expect(await server.stop()).toEqual({ code: 0, signal: null })
  for (const address of addresses) expect(mailsTo(smtp, address), address).toHaveLength(1)
  expect(query(file, 'select id from latchkey_outbox')).toEqual([])
  expect(proven()).toEqual([{ counter: 1, proven: 1 }])
  expect(server.logged('closed')).toHaveLength(1)
  expect(server.logged('mail_failed')).toEqual([])
})

test('closing twice at once and once more is closing once; every later request of ours is 503, the application goes on', async () => {
  const { fleet, file, smtp } = await setScene()
  const server = await fleet.start({ file, smtp: smtp.url })
  const browser = await signUp(server, smtp, ada)
  expect((await server.client().post('/control/close')).status).toBe(204)

  const answers = await Promise.all([
    browser.get('/api/me'),
    browser.get('/auth/me'),
    browser.refresh(),
    server.client().post('/auth/login', { email: ada, password }),
  ])
  for (const answer of answers) {
    expect([answer.status, codeOf(answer)]).toEqual([503, 'store_unavailable'])
    expect(answer.headers.get('retry-after')).not.toBeNull()
  }
  expect((await server.client().get('/ping')).text).toBe('pong')
  expect((await server.client().get('/control/ready')).status).toBe(500)
  expect(await server.stop()).toEqual({ code: 0, signal: null })
})

test('requests that are under way when it closes are answered: with what they asked for, which then holds, or with 503', async () => {
  const { fleet, file, smtp } = await setScene()
  const server = await fleet.start({ file, smtp: smtp.url })
  const addresses = Array.from({ length: 30 }, (_, index) => `reader-${index}@example.test`)
  const asked = addresses.map((email) => server.client().post('/auth/register', { email, password }))
  await Promise.race(asked)
  expect((await server.client().post('/control/close')).status).toBe(204)

  const answers = await Promise.all(asked)
  for (const { status } of answers) expect([202, 503]).toContain(status)
  expect(await server.stop()).toEqual({ code: 0, signal: null })
  const next = await fleet.start({ file, smtp: smtp.url })
  for (const [index, { status }] of answers.entries()) {
    if (status === 202) tokenOf(await mailTo(smtp, addresses[index] ?? ''))
  }
  expect((await next.stop()).code).toBe(0)
  for (const address of addresses) expect(mailsTo(smtp, address).length, address).toBeLessThanOrEqual(1)
})

test('a program that closes nothing ends by itself when its work is done: no timer, thread or connection of ours holds it', async () => {
  const { fleet, file, smtp } = await setScene()
  const visitor = { email: ada, password }
  expect(await fleet.visit({ file, smtp: smtp.url, plain: true }, visitor)).toEqual({ code: 0, signal: null })
  expect(mailsTo(smtp, ada)).toHaveLength(1)
  expectIntact(file)
})

test('after a process has closed, the one file holds everything: nothing is left in a journal beside it', async () => {
  const { fleet, file, smtp } = await setScene()
  const server = await fleet.start({ file, smtp: smtp.url })
  const browser = await signUp(server, smtp, ada)
  for (let round = 0; round < 20; round += 1) {
    expect((await server.client().post('/auth/login', { email: ada, password })).status).toBe(200)
  }
  expect(statSync(`${file}-wal`).size).toBeGreaterThan(0)
  // The process lives on: it is Latchkey that has let go of the file, not the end of the process.
  expect((await server.client().post('/control/close')).status).toBe(204)
  expect([existsSync(`${file}-wal`), existsSync(`${file}-shm`)]).toEqual([false, false])
  await expectWhole(fleet, file, browser)
  expect((await server.stop()).code).toBe(0)
})

test('a journal that a killed process left is taken up by the next, and gone when that has closed', async () => {
  const { fleet, file, smtp } = await setScene()
  const killed = await fleet.start({ file, smtp: smtp.url })
  const browser = await signUp(killed, smtp, ada)
  await killed.kill()
  expect(statSync(`${file}-wal`).size).toBeGreaterThan(0)

  const [one, other] = await Promise.all([fleet.start({ file }), fleet.start({ file })])
  for (const each of [one, other]) expect((await each.client(browser).get('/api/me')).status).toBe(200)
  expect((await one.stop()).code).toBe(0)
  expect((await other.client(browser).get('/auth/me')).status).toBe(200)
  expect((await other.stop()).code).toBe(0)
  expect([existsSync(`${file}-wal`), existsSync(`${file}-shm`)]).toEqual([false, false])
  await expectWhole(fleet, file, browser)
})

/** A copy of the main file alone, as a backup script would take it, serves whoever was signed in. */
async function expectWhole(
  fleet: Fleet,
  file: string,
  browser: Parameters<Awaited<ReturnType<Fleet['start']>>['client']>[0],
): Promise<void> {
  const copy = join(temporaryFolder(), 'copy.db')
  copyFileSync(file, copy)
  const server = await fleet.start({ file: copy })
  expect((await server.client(browser).refresh()).status).toBe(200)
  expect((await server.client().post('/auth/login', { email: ada, password })).status).toBe(200)
  expectIntact(copy)
}
