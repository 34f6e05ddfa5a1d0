import { afterEach, describe, expect, test } from 'vitest'
import { type Mail, MailFault } from '../../src/mail/mailer.js'
import { createSmtpMailer } from '../../src/mail/nodemailer.js'
import { startSmtpServer, type TestSmtpServerOptions } from '../support/smtp-server.js'
import { readVectors } from '../support/vectors.js'

interface HeaderCases {
  cases: { where: string; value: string }[]
}

const from = { name: 'Acme', address: 'hello@acme.example' }
const mail: Mail = { to: 'ada@app.example', subject: 'Hello', text: 'Hi there', html: '<p>Hi there</p>' }
const { cases } = readVectors<HeaderCases>('header-injection')

const started: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of started.splice(0).reverse()) await stop()
})

async function setUp(options: TestSmtpServerOptions = {}, sender = from) {
  const server = await startSmtpServer(options)
  started.push(server.close)
  const mailer = createSmtpMailer({ from: sender, transport: server.url })
  started.push(mailer.close)
  return { server, mailer }
}

async function faultOf(sending: Promise<void>): Promise<MailFault> {
  const fault = await sending.then(
    () => null,
    (error: unknown) => error,
  )
  if (!(fault instanceof MailFault)) throw new Error('the mail went out, or failed with no MailFault', { cause: fault })
  return fault
}

describe('a mail over SMTP', () => {
  test('arrives with both parts, every letter of them, and an id that stays the same', async () => {
    const { server, mailer } = await setUp({}, { name: 'Żółć 日本', address: 'hello@acme.example' })
    const text = `Grüße\n\nhttps://app.example/auth/verify-email?token=${'a-_9'.repeat(11)}\n\n048213\n`
    const html = `<p>Grüße 🎉</p><a href="https://app.example/?token=${'b'.repeat(900)}">x</a>`
    await mailer.send({ ...mail, id: 'mail-1', subject: 'Bestätige — 確認', text, html })

    const [arrived] = server.mails
    expect(arrived?.envelope).toEqual({ from: 'hello@acme.example', to: ['ada@app.example'] })
    expect(arrived?.from).toEqual({ name: 'Żółć 日本', address: 'hello@acme.example' })
    expect(arrived?.to).toEqual([{ name: '', address: 'ada@app.example' }])
    expect(arrived?.subject).toBe('Bestätige — 確認')
    expect(arrived?.text?.trim()).toBe(text.trim())
    expect(arrived?.html?.trim()).toBe(html)
    expect(arrived?.messageId).toBe('<mail-1@acme.example>')
    expect(arrived?.headers.find(({ key }) => key === 'auto-submitted')?.value).toBe('auto-generated')
  })

  test('shares a few connections, which close() ends', async () => {
    const { server, mailer } = await setUp()
    await Promise.all(Array.from({ length: 12 }, (_, index) => mailer.send({ ...mail, to: `u${index}@app.example` })))
    expect(server.mails).toHaveLength(12)
    expect(server.connections().most).toBeLessThanOrEqual(4)
    expect(server.connections().open).toBeGreaterThan(0)

    await mailer.close()
    await expect.poll(() => server.connections().open).toBe(0)
    expect(await faultOf(mailer.send(mail))).toMatchObject({ code: 'mailer_closed', permanent: false })
  })

  test('needs no connection to be closed before the first mail', async () => {
    const mailer = createSmtpMailer({ from, transport: 'smtp://127.0.0.1:1' })
    await expect(mailer.close()).resolves.toBeUndefined()
  })
})

describe('transports', () => {
  test('options, a plugin and a finished transport serve as well as a URL', async () => {
    const { server } = await setUp({ account: { user: 'u', pass: 'p' } })
    const options = { host: '127.0.0.1', port: server.port, auth: { user: 'u', pass: 'p' } }
    const byOptions = createSmtpMailer({ from, transport: options })
    await byOptions.send(mail)
    await byOptions.close()
    expect(server.mails).toHaveLength(1)

    const sent: unknown[] = []
    const plugin = {
      name: 'plugin',
      version: '1',
      send(message: { data: { subject: string } }, done: (error: null, info: object) => void) {
        sent.push(message.data.subject)
        done(null, {})
      },
    }
    await createSmtpMailer({ from, transport: plugin }).send(mail)
    expect(sent).toEqual(['Hello'])
  })

  test('one that the owner made is left open', async () => {
    const calls: unknown[] = []
    const transport = {
      sendMail: async (message: { to: unknown; disableFileAccess: boolean; disableUrlAccess: boolean }) => {
        calls.push([message.to, message.disableFileAccess, message.disableUrlAccess])
      },
      close: () => calls.push('closed'),
    }
    const mailer = createSmtpMailer({ from, transport })
    await mailer.send(mail)
    await mailer.close()
    expect(calls).toEqual([[{ name: '', address: 'ada@app.example' }, true, true]])
  })
})

describe('faults', () => {
  const secret = 'ada@app.example token=abcdef'

  test.each([
    ['550 5.1.1', 'recipient_refused', true],
    ['550', 'recipient_refused', true],
    ['553 5.1.3', 'recipient_refused', true],
    ['450 4.2.1', 'recipient_deferred', false],
    ['552 5.2.2', 'recipient_deferred', false],
    ['550 5.7.1', 'recipient_deferred', false],
    ['530 5.7.0', 'recipient_deferred', false],
  ])('a recipient answered with %s is %s, for good: %s', async (answer, code, permanent) => {
    const { server, mailer } = await setUp({ refuseRecipient: () => `${answer} ${secret}` })
    const fault = await faultOf(mailer.send(mail))
    expect(fault).toMatchObject({ code, permanent })
    expect(JSON.stringify([fault.message, fault.stack, String(fault.cause)])).not.toContain('abcdef')
    expect(server.mails).toEqual([])
  })

  test.each<[string, TestSmtpServerOptions]>([
    ['sender_refused', { refuseSender: () => `550 5.1.8 ${secret}` }],
    ['message_refused', { refuseMessage: () => `554 5.6.0 ${secret}` }],
    ['authentication_failed', { account: { user: 'somebody', pass: 'else' } }],
  ])('%s can be put right, so the mail may wait', async (code, options) => {
    const server = await startSmtpServer(options)
    started.push(server.close)
    const transport = options.account ? server.url.replace('//', '//somebody:wrong@') : server.url
    const mailer = createSmtpMailer({ from, transport })
    started.push(mailer.close)
    expect(await faultOf(mailer.send(mail))).toMatchObject({ code, permanent: false })
  })

  test.each([
    ['no server', 'smtp://127.0.0.1:1', 'connection_failed'],
    ['no such host', 'smtp://nowhere.invalid:25', 'host_not_found'],
    ['a URL of something else', 'https://mx.app.example', 'transport_misconfigured'],
    ['a number', 42, 'transport_misconfigured'],
  ])('%s is a fault of the moment', async (_what, transport, code) => {
    const mailer = createSmtpMailer({ from, transport })
    const fault = await faultOf(mailer.send(mail))
    await mailer.close()
    expect(fault).toMatchObject({ code, permanent: false })
  })

  test('what an owner’s transport throws is told by a code of ours', async () => {
    const mailer = createSmtpMailer({
      from,
      transport: { sendMail: () => Promise.reject(new Error(`could not send ${secret}`)) },
    })
    const fault = await faultOf(mailer.send(mail))
    expect(fault).toMatchObject({ code: 'transport_failed', permanent: false, cause: undefined })
  })
})

describe('ATK-044 one mail has one recipient', () => {
  const emails = cases.filter(({ where }) => where.endsWith('.email')).map(({ value }) => value)

  test.each([
    'ada@app.example, evil@evil.test',
    'ada@app.example;evil@evil.test',
    'ada@app.example\r\nBcc: evil@evil.test',
    'ada@app.example\nBcc: evil@evil.test',
    '"ada@app.example, evil"@evil.test',
    'Ada <ada@app.example>',
    'friends: ada@app.example, evil@evil.test;',
    '<ada@app.example> SIZE=1',
    'ada@app.example evil@evil.test',
    'Ada@App.example',
    'mıke@app.example',
    'ada',
    '',
    ...emails,
    ...emails.map((value) => `${value}@app.example`),
  ])('ATK-044 %j is refused for good before anything is said to a server', async (to) => {
    const { server, mailer } = await setUp()
    expect(await faultOf(mailer.send({ ...mail, to }))).toMatchObject({ code: 'recipient_invalid', permanent: true })
    expect(server.connections().most).toBe(0)
  })
})

describe('ATK-111 headers', () => {
  async function headersOf(send: Partial<Mail>, name = 'Acme') {
    const { server, mailer } = await setUp({}, { ...from, name })
    await mailer.send({ ...mail, ...send })
    return { arrived: server.mails[0], keys: server.mails[0]?.headers.map(({ key }) => key).sort() }
  }

  test.each(cases.filter(({ where }) => where === 'settings.fromName' || where === 'settings.subject'))(
    'ATK-111 $where $value makes no header of its own',
    async ({ where, value }) => {
      const plain = await headersOf({})
      const { arrived, keys } =
        where === 'settings.subject' ? await headersOf({ subject: value }) : await headersOf({}, value)
      expect(keys).toEqual(plain.keys)
      expect(arrived?.envelope.to).toEqual(['ada@app.example'])
      expect(arrived?.text?.trim()).toBe('Hi there')
      const shown = where === 'settings.subject' ? arrived?.subject : arrived?.from?.name
      expect(shown).toBe(value.replace(/[\r\n]+/g, ' '))
    },
  )
})
