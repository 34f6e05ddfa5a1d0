import type { LeasedMail, MailLease } from '../model/outbox-mail.js'
import type { Logger } from '../settings.js'

/** The part of the store's outbox that a worker needs; its promises stand at `store/outbox.ts`. */
export interface OutboxRows {
  lease(count: number, now: number, leaseUntil: number): Promise<LeasedMail[]>
  sent(lease: MailLease): Promise<boolean>
  failed(lease: MailLease, reason: string, nextAttemptAt: number | null): Promise<boolean>
}

/**
 * The same, but nothing rejects: false or nothing when the store could not do it.
 *
 * A store that is down is no fault of the mail's: it waits. Leases end by themselves, so nothing has to be undone.
 * Said once for each time the store goes away.
 */
export function patient(rows: OutboxRows, log: MailLog): OutboxRows {
  let away = false

  async function tried<Answer>(question: Promise<Answer>): Promise<{ answer: Answer } | null> {
    try {
      const answer = await question
      away = false
      return { answer }
    } catch {
      if (!away) log('warn', { event: 'outbox_unavailable' }, 'The outbox cannot be reached; mail waits.')
      away = true
      return null
    }
  }

  return {
    lease: async (count, now, leaseUntil) => (await tried(rows.lease(count, now, leaseUntil)))?.answer ?? [],
    sent: async (lease) => (await tried(rows.sent(lease)))?.answer ?? false,
    failed: async (lease, reason, nextAttemptAt) =>
      (await tried(rows.failed(lease, reason, nextAttemptAt)))?.answer ?? false,
  }
}

export type MailLog = (level: 'warn' | 'error', fields: Readonly<Record<string, unknown>>, message: string) => void

/** The owner's logger, which may throw, and must not stop the mail by it. */
export function mailLog(logger: Logger): MailLog {
  return (level, fields, message) => {
    try {
      logger[level](fields, message)
    } catch {
      // Nobody is left to tell.
    }
  }
}
