import type { Keyring } from '../lib/keyring.js'
import { decoyTemplate, type LeasedMail } from '../model/outbox-mail.js'
import { type Mail, type Mailer, MailFault } from './mailer.js'
import type { MailLog, OutboxRows } from './outbox-rows.js'
import { openValues } from './sealed-values.js'

export interface DeliveryOptions {
  rows: OutboxRows
  keyring: Pick<Keyring, 'open'>
  templates: MailTemplates
  mailer: Pick<Mailer, 'send'>
  brandValues: Readonly<Record<string, string>>
  /** Unix seconds. */
  now(): number
  /** A number in [0, 1), to spread retries. */
  random(): number
  /** What one delivery takes at most. Default: half of its lease. */
  deliveryMilliseconds?: number
  /** Told of each attempt: what became of it and, unless it was sent, why. */
  reported?(template: string, delivered: Delivered, reason: string | null): void
  log: MailLog
  /** How long a mail is tried. */
  setAsideAfterSeconds: number
}

/** What a delivery needs of the templates. */
export interface MailTemplates {
  prepare(): Promise<void>
  mail(name: string, values: Readonly<Record<string, unknown>>): { subject: string; text: string; html: string }
}

const firstRetrySeconds = 5
const lastRetrySeconds = 3_600
const rememberedMails = 1_000
/** What one delivery takes at most, however its transport behaves. */
export const deliverySeconds = 30

/** What became of a mail: `refused` for good, or `failed` for now. */
export type Delivered = 'sent' | 'refused' | 'failed'

/** Delivers one leased mail and tells the store how it went. Never rejects. */
export function createDelivery(options: DeliveryOptions): (mail: LeasedMail) => Promise<Delivered> {
  const { rows } = options
  /** Taken by the server while the store could not be told, or the lease had run out: sent no second time by this process. */
  const taken = new Set<string>()

  return async (mail) => {
    try {
      await options.templates.prepare()
      if (!taken.has(mail.id) && mail.template !== decoyTemplate) {
        const rendered = renderMail(options, mail)
        await sendInTime(options, rendered, () => remember(taken, mail.id))
      }
    } catch (error) {
      return putBack(options, mail, error)
    }
    options.reported?.(mail.template, 'sent', null)
    if (await rows.sent(mail)) taken.delete(mail.id)
    else remember(taken, mail.id)
    return 'sent'
  }
}

/**
 * Ours ends by itself before that; a transport of the application may never. One that was taken late all the same is told.
 * In real time, also under a test clock: what is waited for is the real outside.
 */
function sendInTime(options: DeliveryOptions, mail: Mail, reportLate: () => void): Promise<void> {
  const { mailer, deliveryMilliseconds = deliverySeconds * 1_000 } = options
  const sending = mailer.send(mail)
  return new Promise((resolve, reject) => {
    const limit = AbortSignal.timeout(deliveryMilliseconds)
    limit.onabort = () => {
      reject(new MailFault('timed_out', false))
      sending.then(reportLate, () => {})
    }
    const inTime = () => {
      limit.onabort = null
    }
    sending.finally(inTime).then(resolve, reject)
  })
}

/** What this process cannot open or render, a newer one beside it may: during a roll-out such a mail only waits. */
function renderMail({ keyring, templates, brandValues }: DeliveryOptions, mail: LeasedMail): Mail {
  const values = openValues(keyring, mail)
  if (!values) throw new MailFault('values_unreadable', false)
  try {
    const parts = templates.mail(mail.template, { ...brandValues, ...values })
    return { id: mail.id, to: mail.recipient, ...parts }
  } catch {
    throw new MailFault('template_failed', false)
  }
}

/** Due again after a pause, or set aside with the reason: refused for good, unreadable, or tried for too long. */
async function putBack(options: DeliveryOptions, mail: LeasedMail, error: unknown): Promise<Delivered> {
  const fault = error instanceof MailFault ? error : new MailFault('transport_failed', false)
  const now = options.now()
  const isOver = fault.permanent || now - mail.createdAt >= options.setAsideAfterSeconds
  const fields = { mailId: mail.id, template: mail.template, reason: fault.code, attempts: mail.attempts + 1 }

  if (isOver) options.log('error', { event: 'mail_set_aside', ...fields }, 'A mail was set aside for good.')
  else options.log('warn', { event: 'mail_failed', ...fields }, 'A mail waits for another attempt.')
  const nextAttemptAt = isOver ? null : now + retrySeconds(mail.attempts, options.random())
  await options.rows.failed(mail, fault.code, nextAttemptAt)
  const delivered = fault.permanent ? 'refused' : 'failed'
  options.reported?.(mail.template, delivered, fault.code)
  return delivered
}

/** Doubles from 5 s to 1 h; up to a quarter is taken off by chance, so that mails that failed together come apart. */
function retrySeconds(attempts: number, jitter: number): number {
  const seconds = Math.min(lastRetrySeconds, firstRetrySeconds * 2 ** attempts)
  return Math.max(firstRetrySeconds, Math.round(seconds * (1 - jitter / 4)))
}

function remember(ids: Set<string>, id: string): void {
  ids.add(id)
  const [oldest] = ids
  if (ids.size > rememberedMails && oldest !== undefined) ids.delete(oldest)
}
