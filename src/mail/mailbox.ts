import { oneLine } from '../lib/one-line.js'
import type { Mail, Mailer } from './mailer.js'

/** A mail that the development mailbox kept instead of sending it. */
export interface KeptMail extends Mail {
  /** ISO 8601 in UTC. */
  at: string
}

/** The mailer of development: keeps the newest mails in memory for the mailbox page. */
export interface Mailbox extends Mailer {
  /** Newest first. */
  list(): readonly KeptMail[]
}

export interface MailboxOptions {
  /** Unix milliseconds. */
  now(): number
  /** Where the one line a mail goes: the console. */
  print(line: string): void
  /** The whole address of the mailbox page, with its key: printed once, at the start. */
  address: string
}

const keptMails = 50

/**
 * Keeps mails instead of sending them and prints one line for each: whom it is for and its subject, never a link or a
 * code, which belong on the page that only the developer can open.
 */
export function createMailbox({ now, print, address }: MailboxOptions): Mailbox {
  const mails: KeptMail[] = []
  print(`Mails are kept in the development mailbox: ${address}`)

  return {
    async send(mail) {
      mails.unshift({ ...mail, at: new Date(now()).toISOString() })
      mails.length = Math.min(mails.length, keptMails)
      print(`Mail to ${oneLine(mail.to)}: ${oneLine(mail.subject)}`)
    },
    list: () => [...mails],
    async close() {},
  }
}
