import type { SendMailOptions, Transport, TransportConfig } from 'nodemailer'
import { parseEmailAddress } from '../lib/email-address.js'
import { oneLine } from '../lib/one-line.js'
import { type Mail, type Mailer, MailFault } from './mailer.js'

interface SmtpMailerOptions {
  from: { name: string; address: string }
  /** SMTP URL, nodemailer options, a nodemailer transport or a transport plugin. */
  transport: unknown
}

/** One whole delivery, however slowly the server drips: well below the minute that the outbox leases a mail for. */
const sendMilliseconds = 20_000

/**
 * Delivers by SMTP over a small pool of connections. nodemailer is loaded at the first mail.
 *
 * A transport that the owner made is the owner's to close.
 *
 * @example createSmtpMailer({ from: { name: 'Acme', address: 'hello@acme.example' }, transport: 'smtps://user:pass@mx.example' })
 */
export function createSmtpMailer({ from, transport }: SmtpMailerOptions): Mailer {
  let opening: Promise<Sender> | null = null
  let closed = false

  async function deliver(mail: Mail): Promise<void> {
    if (closed) throw new MailFault('mailer_closed', false)
    opening ??= openSender(transport)
    const sender = await opening
    await sender.sendMail(compose(mail, from))
  }

  return {
    async send(mail) {
      // A string would be read as a list of addresses (ATK-044), so nothing but one canonical address goes out.
      if (parseEmailAddress(mail.to)?.canonical !== mail.to) throw new MailFault('recipient_invalid', true)
      try {
        await deliver(mail)
      } catch (error) {
        throw smtpFault(error)
      }
    },
    async close() {
      closed = true
      const sender = await opening?.catch(() => null)
      if (sender && sender !== transport) sender.close?.()
    },
  }
}

function compose({ id, to, subject, text, html }: Mail, from: SmtpMailerOptions['from']): SendMailOptions {
  const domain = from.address.slice(from.address.lastIndexOf('@') + 1)
  return {
    from: { name: oneLine(from.name), address: from.address },
    to: { name: '', address: to },
    subject: oneLine(subject),
    text,
    html,
    // RFC 3834 §5: no vacation notice comes back.
    headers: { 'Auto-Submitted': 'auto-generated' },
    ...(id === undefined ? {} : { messageId: `<${id}@${domain}>` }),
    ...noOutsideContent,
    signal: AbortSignal.timeout(sendMilliseconds),
  }
}

/** The part of a nodemailer transport that we call. */
interface Sender {
  sendMail(message: SendMailOptions): Promise<unknown>
  verify?(): unknown
  close?(): unknown
}

/** Numbers that the owner's own options may replace. Milliseconds, of inactivity where a socket is meant. */
const smtpDefaults = {
  pool: true,
  maxConnections: 4,
  // The outbox tries again by itself, with a pause.
  maxRequeues: 0,
  dnsTimeout: 5_000,
  connectionTimeout: 5_000,
  greetingTimeout: 5_000,
  socketTimeout: 10_000,
  // A program that forgets to close ends soon after its last mail, and the server is told goodbye instead of cut off.
  idleTimeout: 2_000,
}

/** No mail of ours has attachments; nothing in one may ever be read from a disk or fetched. */
const noOutsideContent = { disableFileAccess: true, disableUrlAccess: true }

/**
 * The transport of the settings, opened: a transport of the application as it is, anything else over our defaults. nodemailer
 * is loaded here and not before.
 *
 * @param options replace our defaults and the application's options
 * @throws {MailFault} `transport_misconfigured`
 */
async function openSender(transport: unknown, options: Readonly<Record<string, unknown>> = {}): Promise<Sender> {
  if (isSender(transport)) return transport
  const { createTransport } = await import('nodemailer')
  const sender = isPlugin(transport)
    ? createTransport(transport)
    : createTransport({ ...configOf(transport), ...options })
  // The pool also reports faults that no send waits for; unheard, they would end the process.
  sender.on('error', () => {})
  return sender
}

/** The owner's options over our defaults. Those of another kind of transport know no pool. */
function configOf(transport: unknown): TransportConfig {
  const given = typeof transport === 'string' && /^smtps?:/i.test(transport) ? { url: transport } : transport
  if (!isConfig(given)) throw new MailFault('transport_misconfigured', false)
  const isSmtp = !['sendmail', 'streamTransport', 'jsonTransport', 'SES'].some((kind) => kind in given)
  return { ...(isSmtp ? smtpDefaults : {}), ...given, ...noOutsideContent }
}

function isSender(transport: unknown): transport is Sender {
  return has(transport, 'sendMail')
}

function isPlugin(transport: unknown): transport is Transport {
  return has(transport, 'send')
}

function isConfig(transport: unknown): transport is TransportConfig {
  return typeof transport === 'object' && transport !== null
}

function has(value: unknown, method: string): boolean {
  return typeof value === 'object' && value !== null && method in value
}

const codes: Readonly<Record<string, string>> = {
  EAUTH: 'authentication_failed',
  ENOAUTH: 'authentication_failed',
  EOAUTH2: 'authentication_failed',
  ECONNECTION: 'connection_failed',
  ESOCKET: 'connection_failed',
  EPROXY: 'connection_failed',
  EDNS: 'host_not_found',
  ETIMEDOUT: 'timed_out',
  EABORT: 'timed_out',
  ETLS: 'tls_failed',
  EREQUIRETLS: 'tls_failed',
  EMESSAGE: 'message_refused',
  EPROTOCOL: 'protocol_error',
  ECONFIG: 'transport_misconfigured',
}

/**
 * What nodemailer threw as a code of ours. Only a recipient that the server refuses is refused for good: everything
 * else (wrong credentials, a sender or relay that is not allowed, a full mailbox) can be put right while the mail waits.
 */
function smtpFault(error: unknown): MailFault {
  if (error instanceof MailFault) return error
  const { code, command, responseCode, response } = partsOf(error)
  if (code !== 'EENVELOPE') return new MailFault(ownCode(code), false)
  if (command === 'MAIL FROM') return new MailFault('sender_refused', false)
  if (command !== 'RCPT TO') return new MailFault('message_refused', false)
  return isForGood(responseCode, response)
    ? new MailFault('recipient_refused', true)
    : new MailFault('recipient_deferred', false)
}

/**
 * RFC 5321 §4.2.1: 5yz is final. Not so: 503, a confused session; 530, "log in first"; 552, which RFC 5321 §4.5.3.1.10
 * reads as 452; and by RFC 3463 x.2.2 (mailbox full), x.3 (the server's own trouble) and x.7 (policy, such as relaying).
 */
function isForGood(responseCode: number, response: string): boolean {
  if (responseCode < 500 || responseCode > 599 || [503, 530, 552].includes(responseCode)) return false
  return !/^\d{3}[ -]\d\.(?:2\.2\b|3\.|7\.)/.test(response)
}

function ownCode(code: string): string {
  return Object.hasOwn(codes, code) ? (codes[code] ?? 'transport_failed') : 'transport_failed'
}

function partsOf(error: unknown) {
  const parts: Readonly<Record<string, unknown>> = typeof error === 'object' && error !== null ? { ...error } : {}
  const { code, command, responseCode, response } = parts
  return {
    code: typeof code === 'string' ? code : '',
    command: typeof command === 'string' ? command : '',
    responseCode: typeof responseCode === 'number' ? responseCode : 0,
    response: typeof response === 'string' ? response : '',
  }
}

/** One connection for one check, whatever the settings say of the pool and its time limits. */
const once = { pool: false, dnsTimeout: 4_000, connectionTimeout: 4_000, greetingTimeout: 4_000, socketTimeout: 4_000 }

/**
 * Connects, greets, encrypts and signs in as a delivery would, and sends nothing.
 *
 * @returns false when this kind of transport cannot be verified
 * @throws {MailFault}
 */
export async function verifyTransport(transport: unknown): Promise<boolean> {
  try {
    const sender = await openSender(transport, once)
    try {
      return (await sender.verify?.()) === true
    } finally {
      if (sender !== transport) sender.close?.()
    }
  } catch (error) {
    throw smtpFault(error)
  }
}
