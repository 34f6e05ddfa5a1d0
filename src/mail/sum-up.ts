import { isoTime } from '../lib/iso-time.js'
import type { Keyring } from '../lib/keyring.js'
import type { CountedNotice, NoticeVerdict } from '../model/mail-limit.js'
import type { LeasedMail } from '../model/outbox-mail.js'
import type { OutboxRows } from './outbox-rows.js'
import { openValues, sealValues } from './sealed-values.js'

export interface SumUpOptions {
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
export async function isSummedUp(options: SumUpOptions, mail: LeasedMail): Promise<boolean> {
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
