import type { Kysely } from 'kysely'
import { provingWays } from '../../../model/admin-role.js'
import type { Tables } from '../../../store/sql/engine/schema.js'
import type { LastAdminCheck, Unit } from '../../../store/sql/engine/steps.js'
import { isEnabled, needsNoReset } from '../../../store/sql/user-conditions.js'
import { withPeople } from './people-tables.js'

/**
 * Locks the project's row until the commit. Every step that grants or takes away rights begins with it: on PostgreSQL two
 * snapshots would each see the other's administrator.
 */
export async function lockProject({ db }: Pick<Unit, 'db'>): Promise<void> {
  await withPeople(db)
    .updateTable('latchkey_project')
    .set((eb) => ({ epoch: eb('epoch', '+', 1) }))
    .execute()
}

/** Ids of the administrators who can administer now: by a right of their own or a team's. `now`: Unix seconds. */
export async function usableAdmins(db: Kysely<Tables>, now: number): Promise<readonly string[]> {
  const host = withPeople(db)
  const own = await host.selectFrom('latchkey_rights').select('user_id').where('granted', '=', 'ADMIN').execute()
  const byTeam = await host
    .selectFrom('latchkey_team_members')
    .innerJoin('latchkey_teams', 'latchkey_teams.id', 'latchkey_team_members.team_id')
    .select('latchkey_team_members.user_id')
    .where('latchkey_teams.granted', '=', 'ADMIN')
    .execute()
  const ids = [...new Set([...own, ...byTeam].map(({ user_id }) => user_id))]
  if (ids.length === 0) return []
  const usable = await db
    .selectFrom('latchkey_users')
    .select('id')
    .where('id', 'in', ids)
    .where('email_verified', '=', 1)
    .where('verified_by', 'in', provingWays)
    .where(isEnabled(now))
    .where(needsNoReset)
    .execute()
  return usable.map(({ id }) => id)
}

/** By rights: of all accounts, only this one could administer. */
export const isLastByRight: LastAdminCheck = async (unit, id, _emails, now) => {
  await lockProject(unit)
  const admins = await usableAdmins(unit.db, now)
  return admins.length === 1 && admins[0] === id
}
