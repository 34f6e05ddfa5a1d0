import { oneLine } from '../lib/one-line.js'
import type { RefusedMail } from '../model/mail-limit.js'
import type { Mail, Mailer } from './mailer.js'

/** A mail that the development mailbox kept instead of sending it. */
export interface KeptMail extends Mail {
  /** ISO 8601 in UTC. */
  at: string
}

/** A mail that was never written, because the mail limit refused it. */
export interface KeptRefusal extends RefusedMail {
  /** ISO 8601 in UTC. */
  at: string
}

/** The mailer of development: keeps the newest mails in memory for the mailbox page. */
export interface Mailbox extends Mailer {
  /** Newest first. */
  list(): readonly (KeptMail | KeptRefusal)[]
  /** Shows that the mail limit refused a mail: without that, a missing mail looks like a fault. */
  showRefused(mail: RefusedMail): void
  /** Prints the address of the page, once. */
  announce(): void
}

export interface MailboxOptions {
  /** Unix milliseconds. */
  now(): number
  /** Prints one line for each mail: to the console. */
  print(line: string): void
  /** The whole address of the mailbox page, with its key. */
  address: string
}

const keptMails = 50

/**
 * Keeps mails instead of sending them and prints one line for each: its recipient and subject, never a link or a code,
 * which belong on the page that only the developer can open.
 */
export function createMailbox({ now, print, address }: MailboxOptions): Mailbox {
  let kept: readonly (KeptMail | KeptRefusal)[] = []
  let announced = false
  const at = () => new Date(now()).toISOString()

  return {
    async send(mail) {
      kept = [{ ...mail, at: at() }, ...kept].slice(0, keptMails)
      print(`Mail to ${oneLine(mail.to)}: ${oneLine(mail.subject)}`)
    },
    showRefused(mail) {
      // One entry for each address and purpose: many refusals must not push out the mails.
      const others = kept.filter((one) => !('purpose' in one && one.to === mail.to && one.purpose === mail.purpose))
      kept = [{ ...mail, at: at() }, ...others].slice(0, keptMails)
      const minutes = Math.ceil(mail.retryAfter / 60)
      print(`No mail to ${oneLine(mail.to)}: the mail limit (${mail.purpose}) has room again in ${minutes} min.`)
    },
    list: () => kept,
    announce() {
      if (!announced) print(`Mails are kept in the development mailbox: ${address}`)
      announced = true
    },
    async close() {},
  }
}
