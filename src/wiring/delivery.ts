import type { MailboxView } from '../http/route.js'
import type { RandomSource } from '../lib/random.js'
import type { World } from '../lib/runtime.js'
import { createMailbox } from '../mail/mailbox.js'
import type { Mailer } from '../mail/mailer.js'
import { createSmtpMailer } from '../mail/nodemailer.js'
import type { Settings } from '../settings.js'
import { sampleMails } from '../templates/samples.js'
import type { Templates } from '../templates/templates.js'

/** Where mails go: over SMTP, or in development without mail settings into a mailbox with a page of its own. */
export function createDelivery(
  settings: Settings,
  {
    random,
    world,
    templates,
  }: { random: Pick<RandomSource, 'token'>; world: Pick<World, 'now'>; templates: Templates },
): { mailer: Mailer; mailbox: MailboxView | null } {
  if (settings.mail) return { mailer: createSmtpMailer(settings.mail), mailbox: null }
  const key = random.token()
  const address = `${settings.origin}${settings.urlPath}${settings.basePath}/dev/mailbox?key=${key}`
  const mailbox = createMailbox({ now: world.now, print, address })
  return { mailer: mailbox, mailbox: { key, list: mailbox.list, samples: () => sampleMails(templates) } }
}

function print(line: string): void {
  // biome-ignore lint/suspicious/noConsole: the development mailbox speaks to the developer's console, nowhere else.
  console.log(line)
}
