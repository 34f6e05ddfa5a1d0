import type { MailboxView } from '../http/route.js'
import type { RandomSource } from '../lib/random.js'
import type { World } from '../lib/runtime.js'
import { createMailbox } from '../mail/mailbox.js'
import type { Mailer } from '../mail/mailer.js'
import { createSmtpMailer } from '../mail/nodemailer.js'
import type { Ports } from '../ports.js'
import type { Settings } from '../settings.js'
import { sampleMails } from '../templates/samples.js'
import type { Templates } from '../templates/templates.js'

/** Where mails go, and in development where the mail limit reports what it refused. */
export interface Delivery {
  mailer: Mailer
  mailbox: MailboxView | null
  /** Prints the address of the development mailbox, once. */
  announceMailbox(): void
  showRefused: Ports['mails']['showRefused']
}

/** Sends mails over SMTP, or in development without mail settings into a mailbox with a page of its own. */
export function createDelivery(
  settings: Settings,
  {
    random,
    world,
    templates,
  }: { random: Pick<RandomSource, 'token'>; world: Pick<World, 'now'>; templates: Templates },
): Delivery {
  if (settings.mail) {
    const mailer = createSmtpMailer(settings.mail)
    return { mailer, mailbox: null, announceMailbox() {}, showRefused: logRefused(settings) }
  }
  const key = random.token()
  const address = `${settings.origin}${settings.urlPath}${settings.basePath}/dev/mailbox?key=${key}`
  const mailbox = createMailbox({ now: world.now, print, address })
  const view = { key, list: mailbox.list, samples: () => sampleMails(templates) }
  const { announce: announceMailbox, showRefused } = mailbox
  return { mailer: mailbox, mailbox: view, announceMailbox, showRefused }
}

/** Without the address: a log never holds one. */
function logRefused({ development, logger }: Settings): Delivery['showRefused'] {
  return ({ purpose, retryAfter }) => {
    if (!development) return
    const fields = { event: 'mail_refused', purpose, retryAfterSeconds: retryAfter }
    logger.warn(fields, 'The mail limit refused a mail. In development, limits.mail.account may be higher.')
  }
}

function print(line: string): void {
  // biome-ignore lint/suspicious/noConsole: the development mailbox speaks to the developer's console, nowhere else.
  console.log(line)
}
