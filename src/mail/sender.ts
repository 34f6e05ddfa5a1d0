import type { SendMailOptions, Transport, TransportConfig } from 'nodemailer'
import { MailFault } from './mailer.js'

/** The part of a nodemailer transport that we call. */
export interface Sender {
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
export const noOutsideContent = { disableFileAccess: true, disableUrlAccess: true }

/**
 * The transport of the settings, opened: a transport of the application as it is, anything else over our defaults. nodemailer
 * is loaded here and not before.
 *
 * @param options replace our defaults and the application's options
 * @throws {MailFault} `transport_misconfigured`
 */
export async function openSender(transport: unknown, options: Readonly<Record<string, unknown>> = {}): Promise<Sender> {
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
