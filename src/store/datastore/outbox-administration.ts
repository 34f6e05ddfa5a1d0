import { decoyTemplate } from '../../model/outbox-mail.js'
import type { Outbox } from '../outbox.js'
import { setAsideFlag, toQueuedMail } from '../outbox-rows.js'
import { writeAudit } from './audit.js'
import type { Steps } from './engine/steps.js'
import { outbox } from './engine/tables.js'
import { newestBefore } from './newest-before.js'

/** What administrators see of the outbox and do to it. */
export function administerMails(steps: Steps): Pick<Outbox, 'find' | 'list' | 'retry' | 'drop'> {
  return {
    find: (id) =>
      steps.glance(async (view) => {
        const row = await view.get(outbox, id)
        return row && row.template !== decoyTemplate ? toQueuedMail(row) : null
      }),

    list: ({ state, after, limit }) =>
      steps.glance(async (view) => {
        const query = {
          template: { ne: decoyTemplate },
          ...(state !== undefined && { set_aside: setAsideFlag(state) }),
        }
        return (await newestBefore(view, outbox, after, { limit, query })).map(toQueuedMail)
      }),

    retry: (id, now, audit) =>
      steps.step(async (unit) => {
        const row = await unit.get(outbox, id)
        if (!row) return false
        if (row.set_aside === 0 && row.next_attempt_at <= now) return true
        // The lease stays as it is, so that a mail that is being sent is not sent twice.
        unit.put(outbox, { ...row, set_aside: 0, next_attempt_at: now })
        await writeAudit(unit, audit)
        unit.mailed = true
        return true
      }),

    drop: (id, audit) =>
      steps.step(async (unit) => {
        const row = await unit.get(outbox, id)
        if (!row) return false
        unit.remove(outbox, [row])
        await writeAudit(unit, audit)
        return true
      }),
  }
}
