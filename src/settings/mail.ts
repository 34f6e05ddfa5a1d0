import { z } from 'zod'
import { parseEmailAddress } from '../lib/email-address.js'
import { either, foreign, settled, text } from './field.js'

/** Who mails come from: `'App <no-reply@app.example>'`, a bare address, or both parts. */
export type MailFromInput = string | { name?: string | undefined; address: string }

export interface Mailbox {
  name: string
  address: string
}

const fromSentence = "must be an address such as 'App <no-reply@app.example>', or { name, address }"
const transportSentence = 'must be an smtp: or smtps: URL, nodemailer options or a nodemailer transport'

const fromText = text(fromSentence, (value) => mailbox(...splitMailbox(value)))
const fromParts = z
  .strictObject({ name: z.string().default(''), address: z.string() })
  .transform((value, context) => settled(mailbox(value.name, value.address), fromSentence, context))

const transportUrl = text(transportSentence, (value) =>
  /^smtps?:\/\/[^/\s]/.test(value) && URL.canParse(value) ? value : null,
)
const transportObject = foreign<object>(transportSentence, (value) => typeof value === 'object' && value !== null)

export const mail = z.strictObject({
  from: either<MailFromInput, Mailbox>((value) => (typeof value === 'string' ? fromText : fromParts)),
  transport: either<string | object, unknown>((value) => (typeof value === 'string' ? transportUrl : transportObject)),
})

/** A sender in its parts, so that nothing downstream parses an address list. */
function mailbox(name: string, address: string): Mailbox | null {
  const parsed = parseEmailAddress(address)
  if (parsed === null || name.length > 128 || /[\p{Cc}<>]/u.test(name)) return null
  return { name, address: parsed.typed }
}

function splitMailbox(value: string): [name: string, address: string] {
  const open = value.indexOf('<')
  if (open === -1 || !value.endsWith('>')) return ['', value]
  const name = value.slice(0, open).trim()
  return [/^".*"$/.test(name) ? name.slice(1, -1) : name, value.slice(open + 1, -1)]
}
