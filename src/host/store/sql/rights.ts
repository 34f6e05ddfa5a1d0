import type { Kysely } from 'kysely'
import { isProved, provingWays } from '../../../model/admin-role.js'
import { Refused } from '../../../store/refused.js'
import { type Tables, toNumber } from '../../../store/sql/engine/schema.js'
import type { LastAdminCheck, Steps, Unit } from '../../../store/sql/engine/steps.js'
import { isEnabled, needsNoReset } from '../../../store/sql/user-conditions.js'
import type { CountedRights, PeopleStep, ProjectUser, Rights } from '../people.js'
import { type PeopleDatabase, withPeople } from './people-tables.js'

export function createRights(steps: Steps): Rights {
  return {
    list: () => steps.step((db) => readUsers(withPeople(db), null)),
    find: async (userId) => (await steps.step((db) => readUsers(withPeople(db), userId)))[0] ?? null,
    counted: () => steps.step((db) => readCounted(withPeople(db))),
    ...changeRights(steps),
  }
}

function changeRights(steps: Steps): Pick<Rights, 'grant' | 'change' | 'remove'> {
  return {
    grant: (userId, right, step) =>
      projectStep(steps, async (unit) => {
        const account = await unit.db
          .selectFrom('latchkey_users')
          .select('id')
          .where('id', '=', userId)
          .executeTakeFirst()
        if (!account) return null
        const former = await ownRight(unit, userId)
        if (former) return former.granted === right ? 'same' : 'other'
        await withPeople(unit.db).insertInto('latchkey_rights').values({ user_id: userId, granted: right }).execute()
        await recordRight(unit, userId, step)
        return 'granted'
      }),

    change: (userId, right, step) =>
      keepingAdmin<'changed' | 'same' | null>(steps, timeOf(step), async (unit) => {
        const host = withPeople(unit.db)
        const former = await ownRight(unit, userId)
        if (former?.granted === right) return 'same'
        if (!former && !(await isMember(unit, userId))) return null
        if (former) {
          await host.updateTable('latchkey_rights').set({ granted: right }).where('user_id', '=', userId).execute()
        } else {
          await host.insertInto('latchkey_rights').values({ user_id: userId, granted: right }).execute()
        }
        await recordRight(unit, userId, step)
        return 'changed'
      }),

    remove: (userId, step) =>
      keepingAdmin<'removed' | null>(steps, timeOf(step), async (unit) => {
        const host = withPeople(unit.db)
        const own = await host.deleteFrom('latchkey_rights').where('user_id', '=', userId).executeTakeFirst()
        const teams = await host.deleteFrom('latchkey_team_members').where('user_id', '=', userId).executeTakeFirst()
        if (own.numDeletedRows === 0n && teams.numDeletedRows === 0n) return null
        await recordRight(unit, userId, step)
        return 'removed'
      }),
  }
}

function ownRight({ db }: Pick<Unit, 'db'>, userId: string) {
  return withPeople(db).selectFrom('latchkey_rights').select('granted').where('user_id', '=', userId).executeTakeFirst()
}

async function isMember({ db }: Pick<Unit, 'db'>, userId: string): Promise<boolean> {
  const query = withPeople(db).selectFrom('latchkey_team_members').select('team_id').where('user_id', '=', userId)
  return (await query.limit(1).executeTakeFirst()) !== undefined
}

async function readUsers(db: PeopleDatabase, userId: string | null): Promise<ProjectUser[]> {
  let own = db.selectFrom('latchkey_rights').select(['user_id', 'granted'])
  let memberships = db
    .selectFrom('latchkey_team_members')
    .innerJoin('latchkey_teams', 'latchkey_teams.id', 'latchkey_team_members.team_id')
    .select(['latchkey_team_members.user_id', 'latchkey_teams.id', 'latchkey_teams.name', 'latchkey_teams.granted'])
  let accounts = db
    .selectFrom('latchkey_users')
    .select(['id', 'email', 'email_verified', 'verified_by', 'name'])
    .where((eb) =>
      eb.or([
        eb('id', 'in', eb.selectFrom('latchkey_rights').select('user_id')),
        eb('id', 'in', eb.selectFrom('latchkey_team_members').select('user_id')),
      ]),
    )
  if (userId !== null) {
    own = own.where('user_id', '=', userId)
    memberships = memberships.where('latchkey_team_members.user_id', '=', userId)
    accounts = accounts.where('id', '=', userId)
  }
  const rights = new Map((await own.execute()).map(({ user_id, granted }) => [user_id, granted]))
  const teams = await memberships.orderBy('latchkey_teams.name').execute()
  const found = await accounts.orderBy('email_canonical').execute()
  return found.map((account) => ({
    id: account.id,
    email: account.email,
    name: account.name,
    right: rights.get(account.id) ?? null,
    teams: teams
      .filter(({ user_id }) => user_id === account.id)
      .map(({ id, name, granted }) => ({ id, name, right: granted })),
    proved: isProved({ emailVerified: Number(account.email_verified) === 1, verifiedBy: account.verified_by }),
  }))
}

async function readCounted(db: PeopleDatabase): Promise<CountedRights> {
  const proved = db
    .selectFrom('latchkey_users')
    .where('email_verified', '=', 1)
    .where('verified_by', 'in', provingWays)
    .select(['latchkey_users.id as user_id', 'disabled_at', 'disabled_until'])
  const own = await proved
    .innerJoin('latchkey_rights', 'latchkey_rights.user_id', 'latchkey_users.id')
    .select('latchkey_rights.granted')
    .execute()
  const byTeam = await proved
    .innerJoin('latchkey_team_members', 'latchkey_team_members.user_id', 'latchkey_users.id')
    .innerJoin('latchkey_teams', 'latchkey_teams.id', 'latchkey_team_members.team_id')
    .select('latchkey_teams.granted')
    .execute()
  const teams = await db.selectFrom('latchkey_teams').select(['id', 'granted']).execute()
  return {
    users: [...own, ...byTeam].map((row) => ({
      userId: row.user_id,
      right: row.granted,
      disabledAt: toNumber(row.disabled_at),
      disabledUntil: toNumber(row.disabled_until),
    })),
    teams: teams.map(({ id, granted }) => ({ id, right: granted })),
  }
}

/** A step over rights: the project's row is locked before `run` reads or writes. */
export function projectStep<T>(steps: Steps, run: (unit: Unit) => Promise<T>): Promise<T> {
  return steps.transaction(async (unit) => {
    await lockProject(unit)
    return run(unit)
  })
}

/**
 * The same for a step that may take the right of the last usable administrator away. Then everything is undone, and the
 * answer is `last_admin`. Where there was none before, as in a project that is not set up yet, nothing is kept.
 *
 * @param now Unix seconds
 */
export function keepingAdmin<T>(steps: Steps, now: number, run: (unit: Unit) => Promise<T>): Promise<T | 'last_admin'> {
  return steps.transaction<T | 'last_admin'>(async (unit) => {
    await lockProject(unit)
    const before = await usableAdmins(unit.db, now)
    const answer = await run(unit)
    const after = await usableAdmins(unit.db, now)
    if (before.length > 0 && after.length === 0) throw new Refused()
    return answer
  }, 'last_admin')
}

/** The last writes of a step over rights. The change row's subject is what changed: a user's or a team's id. */
export async function recordRight(unit: Unit, subject: string, { audit, until }: PeopleStep): Promise<void> {
  unit.audit(audit)
  unit.change('right', [subject], until)
}

/** Unix seconds of a step. */
export function timeOf({ audit }: PeopleStep): number {
  return Math.floor(audit.atMs / 1000)
}

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
async function usableAdmins(db: Kysely<Tables>, now: number): Promise<readonly string[]> {
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
