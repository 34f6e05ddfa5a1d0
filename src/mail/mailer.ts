/** A rendered mail. */
export interface Mail {
  /** The same at every attempt: it becomes the Message-ID, so that a second delivery can be recognised as one. */
  id?: string
  /** Canonical address; always handed on as an object, never parsed as a list. */
  to: string
  subject: string
  text: string
  html: string
}

/** Delivers one mail, or rejects with a `MailFault`. */
export interface Mailer {
  send(mail: Mail): Promise<void>
  close(): Promise<void>
}

/** Why a mail did not go out: a short code for the outbox, never the server's text, which may quote the mail. */
export class MailFault extends Error {
  readonly code: string
  /** The server refused this mail for good; trying again is pointless. */
  readonly permanent: boolean

  constructor(code: string, permanent: boolean, cause?: unknown) {
    super(`The mail was not delivered: ${code}`, { cause })
    this.name = 'MailFault'
    this.code = code
    this.permanent = permanent
  }
}
