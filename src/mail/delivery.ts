import { isoTime } from '../lib/iso-time.js'
import type { Keyring } from '../lib/keyring.js'
import type { CountedNotice, NoticeVerdict } from '../model/mail-limit.js'
import { decoyTemplate, type LeasedMail } from '../model/outbox-mail.js'
import { type Mail, type Mailer, MailFault } from './mailer.js'
import { type MailLog, type OutboxRows, openValues, sealValues } from './outbox-rows.js'

export interface DeliveryOptions extends SumUpOptions {
  rows: OutboxRows
  templates: MailTemplates
  mailer: Pick<Mailer, 'send'>
  /** A number in [0, 1), to spread retries. */
  random(): number
  /** The longest time for one delivery. Default: half of its lease. */
  deliveryMilliseconds?: number
  /** Called after each attempt with its result and, unless the mail was sent, the reason. */
  reported?(template: string, delivered: Delivered, reason: string | null): void
  log: MailLog
  /** How long delivery is retried. */
  setAsideAfterSeconds: number
}

/** What a delivery needs of the templates. */
interface MailTemplates {
  prepare(): Promise<void>
  mail(name: string, values: Readonly<Record<string, unknown>>): { subject: string; text: string; html: string }
}

const firstRetrySeconds = 5
const lastRetrySeconds = 3_600
const rememberedMails = 1_000
/** The longest time for one delivery, however its transport behaves. */
export const deliverySeconds = 30

/** The result of an attempt: `refused` is final, `failed` is retried, `summed_up` is a notice that another mail stands for. */
export type Delivered = 'sent' | 'summed_up' | 'refused' | 'failed'

/** Delivers one leased mail and reports the result to the store. Never rejects. */
export function createDelivery(options: DeliveryOptions): (mail: LeasedMail) => Promise<Delivered> {
  const { rows } = options
  /** Mails that the server accepted, but whose result the store did not take. This process does not send them again. */
  const taken = new Set<string>()

  async function send(mail: LeasedMail): Promise<Delivered> {
    await options.templates.prepare()
    if (taken.has(mail.id) || mail.template === decoyTemplate) return 'sent'
    if (await isSummedUp(options, mail)) return 'summed_up'
    await sendInTime(options, renderMail(options, mail), () => remember(taken, mail.id))
    return 'sent'
  }

  return async (mail) => {
    let delivered: Delivered
    try {
      delivered = await send(mail)
    } catch (error) {
      return putBack(options, mail, error)
    }
    options.reported?.(mail.template, delivered, null)
    if (await rows.sent(mail)) taken.delete(mail.id)
    else remember(taken, mail.id)
    return delivered
  }
}

/**
 * Our own transport ends in time by itself; one of the application may never end. A mail that is accepted late is reported
 * all the same. The limit is real time, also under a test clock, because the mail server is a real one.
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

/** During a roll-out, this process may not be able to open or render a mail of a newer one. Such a mail only waits. */
function renderMail({ keyring, templates, brandValues }: DeliveryOptions, mail: LeasedMail): Mail {
  const values = openValues(keyring, mail)
  if (!values) throw new MailFault('values_unreadable', false)
  try {
    const parts = templates.mail(mail.template, { ...brandValues, minutes: minutesHeld(mail, values), ...values })
    return { id: mail.id, to: mail.recipient, ...parts }
  } catch {
    throw new MailFault('template_failed', false)
  }
}

/** How long after the event at `at` the mail became due: for a held one, how long the event lasted. */
function minutesHeld({ createdAt }: LeasedMail, { at }: Readonly<Record<string, string>>): string {
  const seconds = at === undefined ? 0 : createdAt - Date.parse(at) / 1_000
  return String(Math.max(1, Math.ceil(seconds / 60)))
}

/** Makes the mail due again after a pause, or sets it aside with the reason: refused, unreadable, or tried for too long. */
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

/** Doubles from 5 s to 1 h, less up to a quarter at random, so that mails that failed together are spread out. */
function retrySeconds(attempts: number, jitter: number): number {
  const seconds = Math.min(lastRetrySeconds, firstRetrySeconds * 2 ** attempts)
  return Math.max(firstRetrySeconds, Math.round(seconds * (1 - jitter / 4)))
}

function remember(ids: Set<string>, id: string): void {
  ids.add(id)
  const [oldest] = ids
  if (ids.size > rememberedMails && oldest !== undefined) ids.delete(oldest)
}

interface SumUpOptions {
  rows: Pick<OutboxRows, 'put'>
  keyring: Pick<Keyring, 'open' | 'seal'>
  templates: { mail(name: string, values: Readonly<Record<string, unknown>>): { subject: string } }
  brandValues: Readonly<Record<string, string>>
  /** `Limiter.notice`. */
  countNotice(notice: CountedNotice): Promise<NoticeVerdict>
  /** Unix seconds. */
  now(): number
}

/**
 * Whether this mail must not be sent, because its account had many notices of its kind. The first one beyond the limit writes a
 * mail that sums up.
 *
 * The count is taken here and not when the notice is written: only what has really happened is in the outbox, so failed tries
 * cannot use up the notices of a later success. Only mails with a `noticeKind` are counted. A mail with an undo has none, and is
 * always sent. When anything fails, the notice is sent as it is. Never rejects.
 */
async function isSummedUp(options: SumUpOptions, mail: LeasedMail): Promise<boolean> {
  const values = openValues(options.keyring, mail)
  if (values?.noticeKind === undefined) return false
  try {
    const counted = { id: mail.id, kind: values.noticeKind, address: mail.recipient }
    const verdict = await options.countNotice(counted)
    if (typeof verdict === 'string') return verdict === 'drop'
    return await writeSummary(options, mail, { ...values, until: isoTime(verdict.sumUpUntil) })
  } catch {
    return false
  }
}

/** False when the store did not take it. */
function writeSummary(
  { rows, keyring, templates, brandValues, now }: SumUpOptions,
  mail: LeasedMail,
  { noticeKind: _, ...values }: Readonly<Record<string, string>>,
): Promise<boolean> {
  const last = templates.mail(mail.template, { ...brandValues, ...values }).subject
  const id = `more-${mail.id}`
  const sealedValues = sealValues(keyring, id, { ...values, last })
  return rows.put({ id, recipient: mail.recipient, template: 'more-notices', sealedValues, createdAt: now() })
}
