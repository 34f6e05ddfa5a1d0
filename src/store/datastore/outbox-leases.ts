import type { LeasedMail, MailLease } from '../../model/outbox-mail.js'
import { type Outbox, toLeasedMail } from '../outbox.js'
import type { OutboxTable } from '../rows.js'
import { outbox } from '../tables.js'
import type { View } from '../unit.js'
import type { Steps } from './engine/steps.js'
import type { Unit } from './engine/unit.js'

export function leaseMails(steps: Steps): Pick<Outbox, 'lease' | 'sent' | 'depth'> {
  return {
    async lease(count, now, leaseUntil) {
      // Asked outside a step first: most of the time nothing waits.
      if ((await steps.glance((view) => findDue(view, count, now))).length === 0) return []
      return steps.transaction(async (unit) => {
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
      steps.transaction(async (unit) => {
        const row = await leasedBy(unit, lease)
        if (row) unit.remove(outbox, [row])
        return row !== null
      }),

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
  const row = await unit.get(outbox, { id })
  return row?.lease_id === leaseId ? row : null
}
