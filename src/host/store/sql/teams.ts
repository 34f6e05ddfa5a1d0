import type { Steps, Unit } from '../../../store/sql/engine/steps.js'
import type { TeamChanges, Teams, TeamWithMembers } from '../people.js'
import { type PeopleDatabase, withPeople } from './people-tables.js'
import { keepingAdmin, projectStep, recordRight, timeOf } from './rights.js'

export function createTeams(steps: Steps): Teams {
  return {
    list: () => steps.step((db) => readTeams(withPeople(db), null)),
    find: async (id) => (await steps.step((db) => readTeams(withPeople(db), id)))[0] ?? null,
    ...changeTeams(steps),
    ...changeMembers(steps),
  }
}

function changeTeams(steps: Steps): Pick<Teams, 'create' | 'change' | 'remove'> {
  return {
    create: ({ id, name, right, createdAt }, step) =>
      projectStep(steps, async (unit) => {
        if (await isTaken(unit, name, id)) return 'taken'
        const row = { id, name, granted: right, created_at: createdAt }
        await withPeople(unit.db).insertInto('latchkey_teams').values(row).execute()
        await recordRight(unit, id, step)
        return 'created'
      }),

    change: (id, changes, step) =>
      keepingAdmin<'changed' | 'same' | 'taken' | null>(steps, timeOf(step), async (unit) => {
        const host = withPeople(unit.db)
        const team = await host.selectFrom('latchkey_teams').selectAll().where('id', '=', id).executeTakeFirst()
        if (!team) return null
        const { name, right: granted } = withDefaults(changes, { name: team.name, right: team.granted })
        if (name === team.name && granted === team.granted) return 'same'
        if (name !== team.name && (await isTaken(unit, name, id))) return 'taken'
        await host.updateTable('latchkey_teams').set({ name, granted }).where('id', '=', id).execute()
        await recordRight(unit, id, step)
        return 'changed'
      }),

    remove: (id, step) =>
      keepingAdmin<'removed' | null>(steps, timeOf(step), async (unit) => {
        const host = withPeople(unit.db)
        const tokens = await host
          .selectFrom('latchkey_admin_tokens')
          .select('id')
          .where('owner_team_id', '=', id)
          .execute()
        // Foreign keys remove memberships and tokens.
        const { numDeletedRows } = await host.deleteFrom('latchkey_teams').where('id', '=', id).executeTakeFirst()
        if (numDeletedRows === 0n) return null
        await recordRight(unit, id, step)
        const gone = tokens.map((token) => token.id)
        if (gone.length > 0) unit.change('admin_token', gone, step.until)
        return 'removed'
      }),
  }
}

function changeMembers(steps: Steps): Pick<Teams, 'addMember' | 'removeMember'> {
  return {
    addMember: (id, userId, at, step) =>
      projectStep(steps, async (unit) => {
        const host = withPeople(unit.db)
        const team = await host.selectFrom('latchkey_teams').select('id').where('id', '=', id).executeTakeFirst()
        const user = await host.selectFrom('latchkey_users').select('id').where('id', '=', userId).executeTakeFirst()
        if (!team || !user) return null
        const members = host.selectFrom('latchkey_team_members').select('user_id')
        const member = await members.where('team_id', '=', id).where('user_id', '=', userId).executeTakeFirst()
        if (member) return 'same'
        const row = { team_id: id, user_id: userId, added_at: at }
        await host.insertInto('latchkey_team_members').values(row).execute()
        await recordRight(unit, userId, step)
        return 'added'
      }),

    removeMember: (id, userId, step) =>
      keepingAdmin<'removed' | null>(steps, timeOf(step), async (unit) => {
        const { numDeletedRows } = await withPeople(unit.db)
          .deleteFrom('latchkey_team_members')
          .where('team_id', '=', id)
          .where('user_id', '=', userId)
          .executeTakeFirst()
        if (numDeletedRows === 0n) return null
        await recordRight(unit, userId, step)
        return 'removed'
      }),
  }
}

function withDefaults({ name, right }: TeamChanges, team: Required<Pick<TeamWithMembers, 'name' | 'right'>>) {
  return { name: name ?? team.name, right: right ?? team.right }
}

/** The project's row is locked, so that no other step takes the name meanwhile. */
async function isTaken({ db }: Pick<Unit, 'db'>, name: string, id: string): Promise<boolean> {
  const teams = withPeople(db).selectFrom('latchkey_teams').select('id')
  return (await teams.where('name', '=', name).where('id', '!=', id).executeTakeFirst()) !== undefined
}

async function readTeams(db: PeopleDatabase, id: string | null): Promise<TeamWithMembers[]> {
  let teams = db.selectFrom('latchkey_teams').selectAll()
  let members = db
    .selectFrom('latchkey_team_members')
    .innerJoin('latchkey_users', 'latchkey_users.id', 'latchkey_team_members.user_id')
    .select(['latchkey_team_members.team_id', 'latchkey_users.id', 'latchkey_users.email', 'latchkey_users.name'])
  if (id !== null) {
    teams = teams.where('id', '=', id)
    members = members.where('latchkey_team_members.team_id', '=', id)
  }
  const people = await members.orderBy('latchkey_users.email_canonical').execute()
  return (await teams.orderBy('name').execute()).map((team) => ({
    id: team.id,
    name: team.name,
    right: team.granted,
    createdAt: Number(team.created_at),
    members: people.filter((each) => each.team_id === team.id).map(({ id, email, name }) => ({ id, email, name })),
  }))
}
