import { Refused } from '../../../store/refused.js'
import { writeAudit } from '../../../store/sql/audit.js'
import { writeChanges } from '../../../store/sql/changes.js'
import type { Steps, Unit } from '../../../store/sql/engine/steps.js'
import { toUserRow } from '../../../store/user-rows.js'
import type { FirstAdmin } from '../first-admin.js'
import { withPeople } from './people-tables.js'
import { lockProject } from './usable-admins.js'

export function createFirstAdmin(steps: Steps): FirstAdmin {
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
        await writeAudit(unit, audit)
        await writeChanges(unit, 'right', [user.id], at)
        return 'created'
      }, 'taken'),
  }
}

async function isSetUp(host: ReturnType<typeof withPeople>): Promise<boolean> {
  return (await host.selectFrom('latchkey_set_up').select('slot').executeTakeFirst()) !== undefined
}

async function isTaken({ db }: Pick<Unit, 'db'>, email: string): Promise<boolean> {
  const query = db.selectFrom('latchkey_users').select('id').where('email_canonical', '=', email)
  return (await query.executeTakeFirst()) !== undefined
}
