import { createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { createKeyring } from '../../../src/lib/keyring.js'
import { createMails } from '../../../src/mail/outbox.js'
import { diagnosed, doctorContext } from '../../support/doctor.js'
import { freePort } from '../../support/program.js'
import { startSmtpServer } from '../../support/smtp-server.js'

const from = 'Acme <hello@acme.example>'

/** A deployment in whose outbox one mail has waited that long, or was set aside. */
async function withMail(ageSeconds: number, setAside = false) {
  const context = await doctorContext()
  const { outbox } = (await context.store()) as Awaited<ReturnType<typeof context.store>>
  const keyring = createKeyring(['a secret of this test, long enough to be one'])
  const writtenAt = Math.floor(context.world.now() / 1000) - ageSeconds
  const mails = createMails({ keyring, randomId: () => 'mail-1', now: () => writtenAt })
  await outbox.put(mails.compose('welcome', 'ada@example.test', {}))
  if (setAside) {
    const [lease] = await outbox.lease(1, writtenAt, writtenAt + 60)
    if (lease) await outbox.failed(lease, 'recipient_refused', null)
  }
  return context
}

test.each([
  [899, [{ ok: true }]],
  [900, [{ ok: false, level: 'warn', finding: 'Waiting: 1 mail, the oldest for 15 minutes.' }]],
])('a mail that has waited for %i s', async (age, expected) => {
  expect(await diagnosed('mail_backlog', { context: await withMail(age) })).toMatchObject(expected)
})

test('ATK-123 a mail that was set aside is found, without its recipient', async () => {
  const results = await diagnosed('mail_backlog', { context: await withMail(10, true) })
  expect(results).toMatchObject([{ ok: false, finding: 'Set aside: 1 mail.' }])
  expect(JSON.stringify(results)).not.toContain('ada@')
})

test('a mail server that refuses the password is found, without user and password', async () => {
  const server = await startSmtpServer({ account: { user: 'acme', pass: 'right' } })
  onTestFinished(() => server.close())
  const at = (pass: string) => ({
    settings: { mail: { from, transport: server.url.replace('//', `//acme:${pass}@`) } },
  })
  expect(await diagnosed('smtp_refused', at('right'))).toMatchObject([{ ok: true, skipped: null }])
  const results = await diagnosed('smtp_refused', at('wr0ng'))
  expect(results).toMatchObject([
    { ok: false, level: 'error', finding: 'The mail server cannot be used: authentication failed.' },
  ])
  expect(JSON.stringify(results)).not.toContain('wr0ng')
  expect(server.mails).toEqual([])
})

test('a mail server that is not there, or lacks STARTTLS, is found', async () => {
  const port = await freePort()
  const nowhere = { mail: { from, transport: `smtp://127.0.0.1:${port}` } }
  expect(await diagnosed('smtp_refused', { settings: nowhere })).toMatchObject([
    { ok: false, finding: 'The mail server cannot be used: connection failed.' },
  ])
  const server = await startSmtpServer()
  onTestFinished(() => server.close())
  const plain = { mail: { from, transport: { host: '127.0.0.1', port: server.port, requireTLS: true } } }
  expect(await diagnosed('smtp_refused', { settings: plain })).toMatchObject([
    { ok: false, finding: 'The mail server cannot be used: tls failed.' },
  ])
})

test('a mail server that greets with another protocol is found', async () => {
  const server = createServer((socket) => void socket.on('error', () => {}).end('HTTP/1.1 400 Bad Request\r\n\r\n'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  const settings = { mail: { from, transport: `smtp://127.0.0.1:${port}` } }
  expect(await diagnosed('smtp_refused', { settings })).toMatchObject([{ ok: false }])
})

test('a transport that cannot be verified, and a development without mail, are skipped', async () => {
  const transport = { name: 'own', version: '1', send() {} }
  expect(await diagnosed('smtp_refused', { settings: { mail: { from, transport } } })).toMatchObject([
    { ok: true, skipped: 'This kind of mail transport cannot be verified.' },
  ])
  expect(await diagnosed('smtp_refused')).toMatchObject([{ ok: true, skipped: 'The setting mail is not given.' }])
})
