import type { LeasedMail, MailLease, OutboxMail } from '../../model/outbox-mail.js'
import type { Outbox } from '../outbox.js'
import { failedColumns, toLeasedMail, toOutboxRow } from '../outbox-rows.js'
import type { OutboxTable } from '../rows.js'
import { writeAudit } from './audit.js'
import type { Steps } from './engine/steps.js'
import { outbox } from './engine/tables.js'
import type { Unit, View } from './engine/unit.js'
import { administerMails } from './outbox-administration.js'
import { removeDue } from './prune.js'

export function createOutbox(steps: Steps): Outbox {
  return { ...sendMails(steps), ...administerMails(steps) }
}

function sendMails(steps: Steps): Omit<Outbox, 'find' | 'list' | 'retry' | 'drop'> {
  return {
    put: (mail, audit) =>
      steps.step(async (unit) => {
        writeMail(unit, mail)
        if (audit) await writeAudit(unit, audit)
      }),

    async lease(count, now, leaseUntil) {
      // Asked outside a step first: most of the time nothing waits.
      if ((await steps.glance((view) => findDue(view, count, now))).length === 0) return []
      return steps.step(async (unit) => {
        const leased: LeasedMail[] = []
        for (const row of await findDue(unit, count, now)) {
          const leaseId = unit.randomId()
          unit.put(outbox, { ...row, lease_id: leaseId, lease_until: leaseUntil })
          leased.push(toLeasedMail(row, leaseId))
        }
        return leased
      })
    },

    sent: (lease) =>
      steps.step(async (unit) => {
        const row = await leasedBy(unit, lease)
        if (row) unit.remove(outbox, [row])
        return row !== null
      }),

    failed: (lease, reason, nextAttemptAt) =>
      steps.step(async (unit) => {
        const row = await leasedBy(unit, lease)
        if (!row) return false
        unit.put(outbox, { ...row, ...failedColumns(reason, nextAttemptAt), attempts: row.attempts + 1 })
        return true
      }),

    prune: (before, count) =>
      removeDue(steps, outbox, (view) =>
        view.find(outbox, { set_aside: 1, created_at: { lt: before } }, { sort: { created_at: 1 }, limit: count }),
      ),

    depth: () => steps.glance(readDepth),
  }
}

async function readDepth(view: View): ReturnType<Outbox['depth']> {
  const rows = await view.find(outbox, {})
  const waiting = rows.filter(({ set_aside }) => set_aside === 0)
  const oldestAt = waiting.reduce<number | null>(
    (oldest, { created_at }) => Math.min(oldest ?? created_at, created_at),
    null,
  )
  return { waiting: waiting.length, oldestAt, setAside: rows.length - waiting.length }
}

async function findDue(view: View, count: number, now: number): Promise<OutboxTable[]> {
  const rows = await view.find(
    outbox,
    { set_aside: 0, next_attempt_at: { lte: now } },
    { sort: { next_attempt_at: 1, ordinal: 1 } },
  )
  return rows.filter(({ lease_until }) => lease_until === null || lease_until <= now).slice(0, count)
}

async function leasedBy(unit: Unit, { id, leaseId }: MailLease): Promise<OutboxTable | null> {
  const row = await unit.get(outbox, id)
  return row?.lease_id === leaseId ? row : null
}

/** Makes a held mail due at that moment, if it is not due sooner. It tells when what it is about has ended. */
export async function makeDue(unit: Unit, id: string, at: number): Promise<void> {
  const row = await unit.get(outbox, id)
  if (!row || row.created_at <= at || row.lease_id !== null) return
  unit.put(outbox, { ...row, created_at: at, next_attempt_at: at })
  unit.mailed = true
}

/** Makes the mail due in the step that it tells of; the worker hears of it once that has happened. */
export function writeMail(unit: Unit, mail: OutboxMail): void {
  unit.put(outbox, toOutboxRow(mail, unit))
  unit.mailed = true
}
