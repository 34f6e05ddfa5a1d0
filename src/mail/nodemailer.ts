import type { SendMailOptions } from 'nodemailer'
import { parseEmailAddress } from '../lib/email-address.js'
import { oneLine } from '../lib/one-line.js'
import { type Mail, type Mailer, MailFault } from './mailer.js'
import { noOutsideContent, openSender, type Sender } from './sender.js'
import { smtpFault } from './smtp-fault.js'

export interface SmtpMailerOptions {
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
