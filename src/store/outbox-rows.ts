import type { LeasedMail, OutboxMail } from '../model/outbox-mail.js'
import type { OutboxTable } from './rows.js'

export function toOutboxRow(mail: OutboxMail, unit: { ordinal(): number }): OutboxTable {
  return {
    id: mail.id,
    ordinal: unit.ordinal(),
    recipient: mail.recipient,
    template: mail.template,
    sealed_values: mail.sealedValues,
    created_at: mail.createdAt,
    attempts: 0,
    next_attempt_at: mail.createdAt,
    lease_id: null,
    lease_until: null,
    set_aside: 0,
    last_reason: null,
  }
}

export function toLeasedMail(row: OutboxTable, leaseId: string): LeasedMail {
  return {
    id: row.id,
    leaseId,
    recipient: row.recipient,
    template: row.template,
    sealedValues: row.sealed_values,
    createdAt: Number(row.created_at),
    attempts: Number(row.attempts),
  }
}

/** What a failed attempt changes beside the count: due again at that moment, or set aside for good when it is null. */
export function failedColumns(reason: string, nextAttemptAt: number | null): Partial<OutboxTable> {
  return {
    last_reason: reason,
    lease_id: null,
    lease_until: null,
    ...(nextAttemptAt === null ? { set_aside: 1 } : { next_attempt_at: nextAttemptAt }),
  }
}
