import { Refused } from '../../../store/refused.js'
import type { Steps, Unit } from '../../../store/sql/engine/steps.js'
import { toUserRow } from '../../../store/user-rows.js'
import type { Appointments, FirstAdmin } from '../people.js'
import { withPeople } from './people-tables.js'
import { lockProject, projectStep, recordRight, timeOf } from './rights.js'

export function createFirstAdmin(steps: Steps): FirstAdmin & Appointments {
  return {
    exists: () => steps.step(async (db) => isSetUp(withPeople(db))),

    create: (user, audit) =>
      steps.transaction<'created' | 'exists' | 'taken'>(async (unit) => {
        const at = Math.floor(audit.atMs / 1000)
        await lockProject(unit)
        const host = withPeople(unit.db)
        if (await isSetUp(host)) return 'exists'
        if (await isTaken(unit, user.emailCanonical)) throw new Refused()
        await unit.db.insertInto('latchkey_users').values(toUserRow(user)).execute()
        await host.insertInto('latchkey_rights').values({ user_id: user.id, granted: 'ADMIN' }).execute()
        await host.insertInto('latchkey_set_up').values({ slot: 1, at }).execute()
        unit.audit(audit)
        unit.change('right', [user.id], at)
        return 'created'
      }, 'taken'),

    appoint: (userId, step) =>
      projectStep<'appointed' | 'same' | null>(steps, async (unit) => {
        if (!(await hasAccount(unit, userId))) return null
        const host = withPeople(unit.db)
        const isOver = await isSetUp(host)
        if (!isOver)
          await host
            .insertInto('latchkey_set_up')
            .values({ slot: 1, at: timeOf(step) })
            .execute()
        const own = host.selectFrom('latchkey_rights').select('granted').where('user_id', '=', userId)
        const former = await own.executeTakeFirst()
        if (isOver && former?.granted === 'ADMIN') return 'same'
        await host.deleteFrom('latchkey_rights').where('user_id', '=', userId).execute()
        await host.insertInto('latchkey_rights').values({ user_id: userId, granted: 'ADMIN' }).execute()
        await recordRight(unit, userId, step)
        return 'appointed'
      }),
  }
}

async function isSetUp(host: ReturnType<typeof withPeople>): Promise<boolean> {
  return (await host.selectFrom('latchkey_set_up').select('slot').executeTakeFirst()) !== undefined
}

async function hasAccount({ db }: Pick<Unit, 'db'>, userId: string): Promise<boolean> {
  const query = db.selectFrom('latchkey_users').select('id').where('id', '=', userId)
  return (await query.executeTakeFirst()) !== undefined
}

async function isTaken({ db }: Pick<Unit, 'db'>, email: string): Promise<boolean> {
  const query = db.selectFrom('latchkey_users').select('id').where('email_canonical', '=', email)
  return (await query.executeTakeFirst()) !== undefined
}
