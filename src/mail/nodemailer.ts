import type { SendMailOptions, Transport, TransportConfig } from 'nodemailer'
import { parseEmailAddress } from '../lib/email-address.js'
import { oneLine } from '../lib/one-line.js'
import { type Mail, type Mailer, MailFault } from './mailer.js'
import { smtpFault } from './smtp-fault.js'

export interface SmtpMailerOptions {
  from: { name: string; address: string }
  /** SMTP URL, nodemailer options, a nodemailer transport or a transport plugin. */
  transport: unknown
}

/** The part of a nodemailer transport that we call. */
interface Sender {
  sendMail(message: SendMailOptions): Promise<unknown>
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

async function openSender(transport: unknown): Promise<Sender> {
  if (isSender(transport)) return transport
  const { createTransport } = await import('nodemailer')
  const sender = isPlugin(transport) ? createTransport(transport) : createTransport(configOf(transport))
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
