import { expect, test } from 'vitest'
import { createTestMailbox, type TestMailbox } from '../../src/testing/mailbox.js'

async function mailboxWith(...mails: { to: unknown; subject?: string; text?: string }[]): Promise<TestMailbox> {
  const mailbox = createTestMailbox()
  const { createTransport } = await import('nodemailer')
  const transport = createTransport(mailbox.transport)
  for (const mail of mails) {
    await transport.sendMail({ from: { name: 'A, B', address: 'auth@example.test' }, html: '<p>', ...mail } as object)
  }
  return mailbox
}

test('keeps what nodemailer sends through its transport', async () => {
  const mailbox = await mailboxWith({
    to: { name: '', address: 'ada@example.test' },
    subject: 'Hello',
    text: 'World',
  })
  expect(mailbox.mails).toEqual([
    { to: 'ada@example.test', from: 'auth@example.test', subject: 'Hello', text: 'World', html: '<p>' },
  ])
})

test('knows the newest mail, of all or to an address', async () => {
  const mailbox = await mailboxWith(
    { to: 'ada@example.test', subject: 'one' },
    { to: 'ada@example.test', subject: 'two' },
    { to: 'bob@example.test', subject: 'three' },
  )
  expect(mailbox.latest()?.subject).toBe('three')
  expect(mailbox.latest('ADA@example.test')?.subject).toBe('two')
  expect(mailbox.latest('eve@example.test')).toBeNull()
})

test('hands each mail out once, the oldest first', async () => {
  const mailbox = await mailboxWith(
    { to: 'ada@example.test', subject: 'Confirm your address' },
    { to: 'ada@example.test', subject: 'New device' },
    { to: 'ada@example.test', subject: 'Confirm your address again' },
  )
  expect((await mailbox.waitFor('ada@example.test', /new/i)).subject).toBe('New device')
  expect((await mailbox.waitFor('ada@example.test')).subject).toBe('Confirm your address')
  expect((await mailbox.waitFor('ada@example.test', 'Confirm')).subject).toBe('Confirm your address again')
})

test('waits for a mail that is still under way, and gives it to one of two who wait', async () => {
  const mailbox = createTestMailbox()
  const first = mailbox.waitFor('ada@example.test')
  const second = mailbox.waitFor('ada@example.test')
  for (const subject of ['one', 'two']) {
    mailbox.transport.send({ data: { to: 'ada@example.test', from: '', subject } }, () => {})
  }
  expect([(await first).subject, (await second).subject]).toEqual(['one', 'two'])
})

test('reads the first link, its token and the only code', async () => {
  const text =
    'Confirm: http://localhost:3000/auth/verify-email?token=aB123456-x_7654321. Or type 012345.\nhttps://b.test/'
  const mailbox = await mailboxWith({ to: 'ada@example.test', text })
  const mail = await mailbox.waitFor('ada@example.test')
  expect(mailbox.link(mail)).toBe('http://localhost:3000/auth/verify-email?token=aB123456-x_7654321')
  expect(mailbox.token(mail)).toBe('aB123456-x_7654321')
  expect(mailbox.code(mail)).toBe('012345')
})

test.each(['no number', '123456 and 234567', '12345', '123456789'])('finds no code in «%s»', async (text) => {
  const mailbox = await mailboxWith({ to: 'ada@example.test', subject: 'Code', text })
  const mail = await mailbox.waitFor('ada@example.test')
  expect(() => mailbox.code(mail)).toThrow('"Code"')
  expect(() => mailbox.link(mail)).toThrow('"Code"')
})
