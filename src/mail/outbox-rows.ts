import { readFields, textIn } from '../lib/json-fields.js'
import type { Keyring } from '../lib/keyring.js'
import type { LeasedMail, MailLease, OutboxMail } from '../model/outbox-mail.js'
import type { Logger } from '../settings.js'

/** The store's outbox as a worker uses it. `store/outbox.ts` documents the methods. */
export interface OutboxRows extends WorkerRows {
  /** False when it was not written. */
  put(mail: OutboxMail): Promise<boolean>
}

export interface StoredRows extends WorkerRows {
  put(mail: OutboxMail): Promise<void>
}

interface WorkerRows {
  lease(count: number, now: number, leaseUntil: number): Promise<LeasedMail[]>
  sent(lease: MailLease): Promise<boolean>
  failed(lease: MailLease, reason: string, nextAttemptAt: number | null): Promise<boolean>
}

/**
 * The same, but no method rejects: each returns false or an empty result when the store fails.
 *
 * When the store is down, the mail waits. Leases end by themselves, so nothing has to be undone. Each outage is logged once.
 */
export function patient(rows: StoredRows, log: MailLog): OutboxRows {
  let away = false

  async function tried<Answer>(question: Promise<Answer>): Promise<{ answer: Answer } | null> {
    try {
      const answer = await question
      away = false
      return { answer }
    } catch {
      if (!away)
        log('warn', { event: 'outbox_unavailable' }, 'The outbox cannot be reached, so mails wait. Check the database.')
      away = true
      return null
    }
  }

  return {
    put: async (mail) => (await tried(rows.put(mail).then(() => true)))?.answer ?? false,
    lease: async (count, now, leaseUntil) => (await tried(rows.lease(count, now, leaseUntil)))?.answer ?? [],
    sent: async (lease) => (await tried(rows.sent(lease)))?.answer ?? false,
    failed: async (lease, reason, nextAttemptAt) =>
      (await tried(rows.failed(lease, reason, nextAttemptAt)))?.answer ?? false,
  }
}

export type MailLog = (level: 'warn' | 'error', fields: Readonly<Record<string, unknown>>, message: string) => void

/** The application's logger may throw. That must not stop the mail. */
export function mailLog(logger: Logger): MailLog {
  return (level, fields, message) => {
    try {
      logger[level](fields, message)
    } catch {
      // There is no further place to report the failure to.
    }
  }
}

const purpose = 'outbox'

/** Seals the values of a mail's template, so that links and codes never reach the store in clear, bound to their row. */
export function sealValues(
  keyring: Pick<Keyring, 'seal'>,
  id: string,
  values: Readonly<Record<string, string>>,
): string {
  return keyring.seal(purpose, id, JSON.stringify(values))
}

/** The values inside; null when their key is gone, the row was changed, or a value is no text. */
export function openValues(
  keyring: Pick<Keyring, 'open'>,
  { id, sealedValues }: Pick<OutboxMail, 'id' | 'sealedValues'>,
): Readonly<Record<string, string>> | null {
  return readFields(keyring.open(purpose, id, sealedValues), (fields) =>
    Object.fromEntries(Object.keys(fields).map((name) => [name, textIn(fields, name)])),
  )
}
