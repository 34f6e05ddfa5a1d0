import type { AuditEvent } from '../../model/audit-event.js'
import { decoyTemplate } from '../../model/outbox-mail.js'
import type { Outbox } from '../outbox.js'
import { queuedColumns, setAsideFlag, toQueuedMail } from '../outbox-rows.js'
import { writeAudit } from './audit.js'
import type { Steps, Unit } from './engine/steps.js'

/** What administrators see of the outbox and do to it. */
export function administerMails(steps: Steps): Pick<Outbox, 'find' | 'list' | 'retry' | 'drop'> {
  return {
    find: (id) =>
      steps.step(async (db) => {
        const found = db.selectFrom('latchkey_outbox').select(queuedColumns).where('id', '=', id)
        const row = await found.where('template', '<>', decoyTemplate).executeTakeFirst()
        return row ? toQueuedMail(row) : null
      }),

    list: ({ state, after, limit }) =>
      steps.step(async (db) => {
        let rows = db.selectFrom('latchkey_outbox').select(queuedColumns).where('template', '<>', decoyTemplate)
        if (state !== undefined) rows = rows.where('set_aside', '=', setAsideFlag(state))
        if (after !== null) {
          rows = rows.where(steps.flavour.before(['created_at', 'id'], [after.createdAt, after.id]))
        }
        const found = await rows.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(limit).execute()
        return found.map(toQueuedMail)
      }),

    retry: (id, now, audit) => steps.transaction((unit) => retry(unit, id, now, audit)),

    drop: (id, audit) =>
      steps.transaction(async (unit) => {
        const { numDeletedRows } = await unit.db.deleteFrom('latchkey_outbox').where('id', '=', id).executeTakeFirst()
        if (numDeletedRows === 0n) return false
        await writeAudit(unit, audit)
        return true
      }),
  }
}

/** The lease stays as it is, so that a mail that is being sent is not sent twice. */
async function retry(unit: Unit, id: string, now: number, audit: AuditEvent): Promise<boolean> {
  const { numUpdatedRows } = await unit.db
    .updateTable('latchkey_outbox')
    .set({ set_aside: 0, next_attempt_at: now })
    .where('id', '=', id)
    .where((eb) => eb.or([eb('set_aside', '=', 1), eb('next_attempt_at', '>', now)]))
    .executeTakeFirst()
  if (numUpdatedRows === 0n) {
    const row = await unit.db.selectFrom('latchkey_outbox').select('id').where('id', '=', id).executeTakeFirst()
    return row !== undefined
  }
  await writeAudit(unit, audit)
  unit.mailed = true
  return true
}
