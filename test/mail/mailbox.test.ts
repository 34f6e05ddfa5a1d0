import { expect, test } from 'vitest'
import { createMailbox } from '../../src/mail/mailbox.js'

const address = 'http://localhost:3000/auth/dev/mailbox?key=abc'
const mail = {
  to: 'ada@app.example',
  subject: 'Confirm',
  text: 'http://localhost:3000/auth/verify-email?token=Secret\n\n048213\n',
  html: '<b>048213</b>',
}

function setUp() {
  const lines: string[] = []
  const mailbox = createMailbox({ now: () => 1_767_225_600_000, print: (line) => lines.push(line), address })
  return { mailbox, lines }
}

test('the mailbox prints its address once and one line a mail, without link or code', async () => {
  const { mailbox, lines } = setUp()
  expect(lines).toEqual([])
  mailbox.announce()
  mailbox.announce()
  expect(lines).toHaveLength(1)
  expect(lines[0]).toContain(address)

  await mailbox.send(mail)
  await mailbox.send({ ...mail, subject: 'Again\u001b[2J\nMail to root@app.example: fake' })
  expect(lines).toEqual([
    lines[0],
    'Mail to ada@app.example: Confirm',
    'Mail to ada@app.example: Again [2J Mail to root@app.example: fake',
  ])
})

test('the mailbox keeps the newest fifty mails, newest first, with their time', async () => {
  const { mailbox } = setUp()
  for (let index = 0; index < 60; index += 1) await mailbox.send({ ...mail, to: `u${index}@app.example` })
  const kept = mailbox.list()
  expect(kept).toHaveLength(50)
  expect(kept[0]).toEqual({ ...mail, to: 'u59@app.example', at: '2026-01-01T00:00:00.000Z' })
  expect(kept.at(-1)?.to).toBe('u10@app.example')
  await mailbox.close()
})

test('a mail that the limit refused stands among the others, once for each address and purpose', async () => {
  const { mailbox, lines } = setUp()
  const refused = { to: mail.to, purpose: 'otp', retryAfter: 61 } as const
  mailbox.showRefused(refused)
  await mailbox.send(mail)
  for (let nth = 0; nth < 60; nth += 1) mailbox.showRefused({ ...refused, retryAfter: 61 - nth })
  mailbox.showRefused({ ...refused, purpose: 'reset' })
  expect(lines.slice(0, 3)).toEqual([
    'No mail to ada@app.example: the mail limit (otp) has room again in 2 min.',
    'Mail to ada@app.example: Confirm',
    'No mail to ada@app.example: the mail limit (otp) has room again in 2 min.',
  ])
  const at = '2026-01-01T00:00:00.000Z'
  expect(mailbox.list()).toEqual([
    { ...refused, purpose: 'reset', at },
    { ...refused, retryAfter: 2, at },
    { ...mail, at },
  ])
})
