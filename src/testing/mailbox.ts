import { memberOf } from '../lib/members.js'
/** A mail as it arrived. */
export interface ReceivedMail {
  /** The one address it went to. */
  to: string
  /** The sender's address. */
  from: string
  subject: string
  text: string
  html: string
}

/** A mail server that keeps what it gets. */
export interface TestMailbox {
  /** The nodemailer transport for `settings.mail.transport`. */
  transport: TestTransport

  /** Everything that arrived, oldest first. */
  readonly mails: readonly ReceivedMail[]

  /** The newest mail, or the newest to that address; null when there is none. */
  latest(to?: string): ReceivedMail | null

  /**
   * The oldest mail to that address that no earlier `waitFor` has handed out, with that subject (a part of it, or a
   * pattern); waits for it, at most 5 s of real time.
   *
   * @throws {Error} None came in time; the message lists what did arrive.
   *
   * @example
   * const mail = await mailbox.waitFor('ada@example.test', /confirm/i)
   */
  waitFor(to: string, subject?: string | RegExp): Promise<ReceivedMail>

  /** The first URL of the mail's text. Throws when there is none. */
  link(mail: ReceivedMail): string

  /** The `token` in the mail's link. Throws when there is none. */
  token(mail: ReceivedMail): string

  /** The only number of 6 to 8 digits in the mail's text. Throws when there is none, or more than one. */
  code(mail: ReceivedMail): string
}

/** What nodemailer asks of a transport. */
export interface TestTransport {
  name: string
  version: string
  send(
    mail: { data: unknown },
    callback: (error: Error | null, sent: { envelope: object; messageId: string }) => void,
  ): void
}

/**
 * Makes a mailbox for `settings.mail.transport`: no socket, no server, every mail at hand.
 *
 * @example
 * const mailbox = createTestMailbox()
 * const auth = createAuth(testSettings({ mailbox }), createTestRuntime())
 * …
 * const mail = await mailbox.waitFor('ada@example.test')
 * await client.post('/auth/verify-email', { token: mailbox.token(mail) })
 */
export function createTestMailbox(): TestMailbox {
  const mails: ReceivedMail[] = []
  const handedOut = new Set<ReceivedMail>()
  const arrivals = new Set<() => void>()

  function take(wanted: Wanted): ReceivedMail | null {
    const mail = mails.find((candidate) => !handedOut.has(candidate) && fits(candidate, wanted)) ?? null
    if (mail) handedOut.add(mail)
    return mail
  }

  return {
    mails,
    transport: transport((mail) => {
      mails.push(mail)
      for (const arrived of [...arrivals]) arrived()
    }),
    latest: (to) => mails.findLast((mail) => to === undefined || sameAddress(mail.to, to)) ?? null,
    async waitFor(to, subject) {
      const wanted = { to, subject }
      return take(wanted) ?? (await arrival(arrivals, () => take(wanted))) ?? fail(missing(wanted, mails))
    },
    link,
    token: (mail) => new URL(link(mail)).searchParams.get('token') ?? fail(`No token in the link of "${mail.subject}"`),
    code,
  }
}

const PATIENCE_MILLISECONDS = 5_000

interface Wanted {
  to: string
  subject: string | RegExp | undefined
}

/** Asks `take` again whenever a mail arrives; null when patience ends first. */
function arrival(arrivals: Set<() => void>, take: () => ReceivedMail | null): Promise<ReceivedMail | null> {
  return new Promise((resolve) => {
    const end = (mail: ReceivedMail | null) => {
      clearTimeout(patience)
      arrivals.delete(look)
      resolve(mail)
    }
    const look = () => {
      const mail = take()
      if (mail) end(mail)
    }
    const patience = setTimeout(end, PATIENCE_MILLISECONDS, null)
    arrivals.add(look)
  })
}

function fits(mail: ReceivedMail, { to, subject }: Wanted): boolean {
  if (!sameAddress(mail.to, to)) return false
  if (subject === undefined) return true
  return typeof subject === 'string' ? mail.subject.includes(subject) : subject.test(mail.subject)
}

function missing({ to, subject }: Wanted, mails: readonly ReceivedMail[]): string {
  const arrived = mails.map((mail) => `  ${mail.to}: ${mail.subject}`).join('\n')
  return `No new mail to ${to}${subject === undefined ? '' : ` with subject ${subject}`} arrived.\nAll mails:\n${arrived}`
}

function sameAddress(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase()
}

function link(mail: ReceivedMail): string {
  return mail.text.match(URLS)?.[0] ?? fail(`No link in the mail "${mail.subject}"`)
}

/** Looked for outside of links, whose random tokens may hold six digits in a row. */
function code(mail: ReceivedMail): string {
  const [only, ...others] = mail.text.replaceAll(URLS, ' ').match(/(?<!\d)\d{6,8}(?!\d)/g) ?? []
  if (only === undefined || others.length > 0) fail(`Not one code but ${only ? 'more' : 'none'} in "${mail.subject}"`)
  return only
}

const URLS = /https?:\/\/[^\s<>"']*[^\s<>"'.,;:!?)\]]/g

function transport(deliver: (mail: ReceivedMail) => void): TestTransport {
  return {
    name: 'latchkey-test-mailbox',
    version: '1',
    send(mail, callback) {
      const received = receivedMail(mail.data)
      deliver(received)
      callback(null, { envelope: { from: received.from, to: [received.to] }, messageId: `<${received.to}>` })
    },
  }
}

/** Reads nodemailer's message options, which may give an address as text or as `{ name, address }`. */
function receivedMail(data: unknown): ReceivedMail {
  const text = (name: string) => String(memberOf(data, name) ?? '')
  return {
    to: address(memberOf(data, 'to')),
    from: address(memberOf(data, 'from')),
    subject: text('subject'),
    text: text('text'),
    html: text('html'),
  }
}

function address(value: unknown): string {
  if (Array.isArray(value)) return value.map(address).join(', ')
  if (typeof value === 'object' && value !== null && 'address' in value) return String(value.address)
  return String(value ?? '').replace(/^.*<(.*)>$/, '$1')
}

function fail(message: string): never {
  throw new Error(message)
}
