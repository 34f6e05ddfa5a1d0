import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { temporaryFolder } from '../support/auth.js'
import {
  createFleet,
  type Fleet,
  mailsTo,
  mailTo,
  password,
  query,
  type ServerProcess,
  tokenOf,
} from '../support/process-server.js'
import { freePort } from '../support/program.js'
import { startSmtpServer, type TestSmtpServer, type TestSmtpServerOptions } from '../support/smtp-server.js'

// Starting processes takes a busy machine its time.
vi.setConfig({ testTimeout: 120_000 })

const ada = 'ada@example.test'
const grace = 'grace@example.test'
/** A failed mail waits 5 s before it is tried again, and the outbox is looked at every 5 s. */
const againMs = 30_000
/** Longer than a dead process's lease. */
const afterLeaseMs = 70_000

interface Scene {
  fleet: Fleet
  file: string
}

const setScene = (): Scene => ({ fleet: createFleet(), file: join(temporaryFolder(), 'latchkey.db') })

async function startSmtp(options: TestSmtpServerOptions = {}): Promise<TestSmtpServer> {
  const smtp = await startSmtpServer(options)
  onTestFinished(() => smtp.close())
  return smtp
}

async function register(server: ServerProcess, email: string) {
  const browser = server.client()
  expect((await browser.post('/auth/register', { email, password })).status).toBe(202)
  return browser
}

/** What failed, by reason. */
const failures = (server: ServerProcess, event: 'mail_failed' | 'mail_set_aside') =>
  server.logged(event).map(({ reason }) => reason)

test('registering is answered while no mail server is there, and the mail comes once when it is', async () => {
  const { fleet, file } = setScene()
  const port = await freePort()
  const server = await fleet.start({ file, smtp: `smtp://127.0.0.1:${port}` })
  const browser = await register(server, ada)
  await expect.poll(() => failures(server, 'mail_failed')).toEqual(['connection_failed'])

  const smtp = await startSmtp({ port })
  await expect.poll(() => mailsTo(smtp, ada), { timeout: againMs }).toHaveLength(1)
  const token = tokenOf(await mailTo(smtp, ada))
  expect((await browser.post('/auth/verify-email', { token })).status).toBe(200)
  expect((await server.stop()).code).toBe(0)
  expect(mailsTo(smtp, ada)).toHaveLength(1)
  expect(query(file, 'select id from latchkey_outbox')).toEqual([])
})

test('a mail server that takes connections and says nothing holds up neither visitors nor the end of the process', async () => {
  const { fleet, file } = setScene()
  const silent = await startSilentServer()
  const server = await fleet.start({ file, smtp: `smtp://127.0.0.1:${silent.port}?greetingTimeout=1500` })
  await register(server, ada)
  await expect.poll(() => silent.connections.length).toBeGreaterThan(0)
  await register(server, grace)
  expect((await server.client().post('/auth/login', { email: ada, password })).status).toBe(403)
  expect((await server.client().get('/ping')).status).toBe(200)
  expect(await server.stop()).toEqual({ code: 0, signal: null })

  const smtp = await startSmtp()
  const next = await fleet.start({ file, smtp: smtp.url, aheadMs: afterLeaseMs })
  for (const address of [ada, grace]) tokenOf(await mailTo(smtp, address))
  expect((await next.stop()).code).toBe(0)
  expect(query(file, 'select id from latchkey_outbox')).toEqual([])
})

test('wrong credentials are logged without being named, and the mail waits for the right ones', async () => {
  const { fleet, file } = setScene()
  const smtp = await startSmtp({ account: { user: 'mailer', pass: 'right-one' } })
  const as = (pass: string) => `smtp://mailer:${pass}@127.0.0.1:${smtp.port}`
  const server = await fleet.start({ file, smtp: as('wrong-one') })
  await register(server, ada)
  await expect.poll(() => failures(server, 'mail_failed')).toEqual(['authentication_failed'])
  expect(JSON.stringify(server.logged('mail_failed'))).not.toMatch(/wrong-one|mailer|ada@/)
  expect((await server.stop()).code).toBe(0)

  const next = await fleet.start({ file, smtp: as('right-one'), aheadMs: afterLeaseMs })
  await mailTo(smtp, ada)
  expect((await next.stop()).code).toBe(0)
  expect(mailsTo(smtp, ada)).toHaveLength(1)
})

test('a recipient that the server refuses is set aside for good and holds up nobody else', async () => {
  const { fleet, file } = setScene()
  const asked: string[] = []
  const smtp = await startSmtp({
    refuseRecipient(address) {
      asked.push(address)
      return address === ada ? '550 5.1.1 nobody here' : null
    },
  })
  const server = await fleet.start({ file, smtp: smtp.url })
  await register(server, ada)
  await register(server, grace)
  await mailTo(smtp, grace)
  await expect.poll(() => failures(server, 'mail_set_aside')).toEqual(['recipient_refused'])
  expect((await server.stop()).code).toBe(0)

  const next = await fleet.start({ file, smtp: smtp.url, aheadMs: afterLeaseMs })
  await register(next, 'hedy@example.test')
  await mailTo(smtp, 'hedy@example.test')
  expect((await next.stop()).code).toBe(0)
  expect(asked.sort()).toEqual([ada, grace, 'hedy@example.test'])
})

/** Takes connections and never greets. */
async function startSilentServer(): Promise<{ port: number; connections: readonly Socket[] }> {
  const connections: Socket[] = []
  const server = createServer((socket) => {
    socket.on('error', () => {})
    connections.push(socket)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of connections) socket.destroy()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { port, connections }
}
