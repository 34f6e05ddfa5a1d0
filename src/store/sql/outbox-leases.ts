import type { Kysely } from 'kysely'
import type { LeasedMail, MailLease } from '../../model/outbox-mail.js'
import { type Outbox, toLeasedMail } from '../outbox.js'
import { type Tables, toNumber } from './engine/schema.js'
import type { Steps, Unit } from './engine/steps.js'

/**
 * Other workers may take all the mails that this one has found, and then it looks again. In each round that a worker loses,
 * another one wins. Of four workers in step, one loses this many rounds less than once in a million.
 */
const rounds = 50

/** One statement decides which worker gets a mail. */
export function leaseMails(steps: Steps): Pick<Outbox, 'lease' | 'sent' | 'depth'> {
  return {
    async lease(count, now, leaseUntil) {
      for (let round = 0; round < rounds; round += 1) {
        const candidates = await steps.step((db) => findDue(db, count, now))
        if (candidates.length === 0) return []
        const lease = { id: steps.randomId(), until: leaseUntil }
        const taken = await steps.transaction((unit) => takeDue(unit, candidates, now, lease))
        if (taken.length > 0) return taken
      }
      return []
    },

    // Repeatable: a broken connection never sends a mail twice, because a worker that gets false does not send it again.
    sent: (lease) => steps.step((db) => takeOut(db, lease), 'repeatable'),

    depth: () => steps.step(readDepth),
  }
}

async function takeOut(db: Kysely<Tables>, { id, leaseId }: MailLease): Promise<boolean> {
  const removal = db.deleteFrom('latchkey_outbox').where('id', '=', id).where('lease_id', '=', leaseId)
  const { numDeletedRows } = await removal.executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}

async function findDue(db: Kysely<Tables>, count: number, now: number): Promise<string[]> {
  const rows = await db
    .selectFrom('latchkey_outbox')
    .select('id')
    .where('set_aside', '=', 0)
    .where('next_attempt_at', '<=', now)
    .where((eb) => eb.or([eb('lease_until', 'is', null), eb('lease_until', '<=', now)]))
    .orderBy('next_attempt_at')
    .orderBy('ordinal')
    .limit(count)
    .execute()
  return rows.map(({ id }) => id)
}

/** The conditional update decides which of the candidates this worker gets. The lease id identifies them afterwards. */
async function takeDue(
  unit: Unit,
  candidates: readonly string[],
  now: number,
  lease: { id: string; until: number },
): Promise<LeasedMail[]> {
  await unit.db
    .updateTable('latchkey_outbox')
    .set({ lease_id: lease.id, lease_until: lease.until })
    .where('id', 'in', candidates)
    .where('set_aside', '=', 0)
    .where('next_attempt_at', '<=', now)
    .where((eb) => eb.or([eb('lease_until', 'is', null), eb('lease_until', '<=', now)]))
    .execute()
  const rows = await unit.db
    .selectFrom('latchkey_outbox')
    .selectAll()
    .where('id', 'in', candidates)
    .where('lease_id', '=', lease.id)
    .orderBy('next_attempt_at')
    .orderBy('ordinal')
    .execute()
  return rows.map((row) => toLeasedMail(row, lease.id))
}

async function readDepth(db: Kysely<Tables>): ReturnType<Outbox['depth']> {
  const rows = await db
    .selectFrom('latchkey_outbox')
    .select((eb) => ['set_aside', eb.fn.countAll().as('count'), eb.fn.min('created_at').as('oldest_at')])
    .groupBy('set_aside')
    .execute()
  const waiting = rows.find((row) => Number(row.set_aside) === 0)
  const setAside = rows.find((row) => Number(row.set_aside) === 1)
  return {
    waiting: Number(waiting?.count ?? 0),
    oldestAt: toNumber(waiting?.oldest_at ?? null),
    setAside: Number(setAside?.count ?? 0),
  }
}
