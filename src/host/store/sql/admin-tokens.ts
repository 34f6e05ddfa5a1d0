import { adminCommands } from '../../../contract/admin-command.js'
import { choiceIn, textsIn } from '../../../lib/json-fields.js'
import { readColumn } from '../../../store/json-columns.js'
import { toNumber } from '../../../store/sql/engine/schema.js'
import type { Steps, Unit } from '../../../store/sql/engine/steps.js'
import type { FurtherKeys } from '../../../store/sql/keys-in-use.js'
import type { AdminTokenOwner, AdminTokenRecord, AdminTokens, ListedAdminToken } from '../people.js'
import { type AdminTokensTable, type PeopleDatabase, withPeople } from './people-tables.js'
import { lockProject } from './rights.js'

export function createAdminTokens(steps: Steps): AdminTokens {
  return {
    ...readAdminTokens(steps),

    create: (token, audit) =>
      steps.transaction(async (unit) => {
        // A step that takes the maker out of the team comes before this one or after it.
        await lockProject(unit)
        if (!(await mayOwn(unit, token))) return false
        await withPeople(unit.db).insertInto('latchkey_admin_tokens').values(toAdminTokenRow(token)).execute()
        unit.audit(audit)
        return true
      }),

    remove: (id, { until, audit }) =>
      steps.transaction(async (unit) => {
        const gone = withPeople(unit.db).deleteFrom('latchkey_admin_tokens').where('id', '=', id)
        if ((await gone.executeTakeFirst()).numDeletedRows === 0n) return false
        unit.audit(audit)
        unit.change('admin_token', [id], until)
        return true
      }),

    removeAll: ({ until, audit }) =>
      steps.transaction(async (unit) => {
        // A token that is being made comes before this step or after it.
        await lockProject(unit)
        const tokens = await withPeople(unit.db).selectFrom('latchkey_admin_tokens').select('id').execute()
        if (tokens.length === 0) return 0
        await withPeople(unit.db).deleteFrom('latchkey_admin_tokens').execute()
        unit.audit(audit)
        const ids = tokens.map(({ id }) => id)
        unit.change('admin_token', ids, until)
        return ids.length
      }),

    async touch(uses) {
      for (const { id, day, network } of uses) {
        await steps.step(
          (db) =>
            withPeople(db)
              .updateTable('latchkey_admin_tokens')
              .set({ last_used_day: day, last_used_network: network })
              .where('id', '=', id)
              .execute(),
          'repeatable',
        )
      }
    },
  }
}

/** Ids of the encryption keys by which admin tokens that still work are recognised. */
export const adminTokenKeys: FurtherKeys = async (db, flavour, now) => {
  const rows = await withPeople(db)
    .selectFrom('latchkey_admin_tokens')
    .select(flavour.beforeDot('token_hash').as('key_id'))
    .distinct()
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))
    .execute()
  return rows.flatMap(({ key_id }) => (key_id === null ? [] : [key_id]))
}

/** In two small statements, as the other tables are pruned. An expired token stays expired in between. */
export async function pruneAdminTokens(steps: Steps, before: number, count: number): Promise<number> {
  const due = await steps.step((db) =>
    withPeople(db)
      .selectFrom('latchkey_admin_tokens')
      .select('id')
      .where('expires_at', '<', before)
      .orderBy('expires_at')
      .limit(count)
      .execute(),
  )
  if (due.length === 0) return 0
  const ids = due.map(({ id }) => id)
  const gone = await steps.step(
    (db) => withPeople(db).deleteFrom('latchkey_admin_tokens').where('id', 'in', ids).executeTakeFirstOrThrow(),
    'repeatable',
  )
  return Number(gone.numDeletedRows)
}

function readAdminTokens(steps: Steps): Pick<AdminTokens, 'find' | 'list' | 'listOfTeams'> {
  return {
    async find(id) {
      const row = await steps.step((db) =>
        withPeople(db).selectFrom('latchkey_admin_tokens').selectAll().where('id', '=', id).executeTakeFirst(),
      )
      return row ? toAdminToken(row) : null
    },

    list: () => steps.step(async (db) => (await listed(withPeople(db)).execute()).map(toListed)),

    listOfTeams: ({ by, teamId }) =>
      steps.step(async (db) => {
        const made = listed(withPeople(db)).where('made_by', '=', by)
        const ofTeams =
          teamId === null ? made.where('owner_team_id', 'is not', null) : made.where('owner_team_id', '=', teamId)
        return (await ofTeams.execute()).map(toListed)
      }),
  }
}

/** Its maker must be a member of the team that it is to be of. */
async function mayOwn({ db }: Pick<Unit, 'db'>, { owner, madeBy }: AdminTokenRecord): Promise<boolean> {
  if (owner.kind === 'personal') return true
  const members = withPeople(db).selectFrom('latchkey_team_members').select('user_id')
  const found = await members.where('team_id', '=', owner.teamId).where('user_id', '=', madeBy).executeTakeFirst()
  return found !== undefined
}

function listed(db: PeopleDatabase) {
  return db
    .selectFrom('latchkey_admin_tokens')
    .leftJoin('latchkey_users as owner', 'owner.id', 'latchkey_admin_tokens.owner_user_id')
    .leftJoin('latchkey_teams as team', 'team.id', 'latchkey_admin_tokens.owner_team_id')
    .leftJoin('latchkey_users as maker', 'maker.id', 'latchkey_admin_tokens.made_by')
    .selectAll('latchkey_admin_tokens')
    .select(['owner.email as owner_email', 'team.name as team_name', 'maker.email as maker_email'])
    .orderBy('latchkey_admin_tokens.created_at', 'desc')
    .orderBy('latchkey_admin_tokens.id', 'desc')
}

type ListedRow = Awaited<ReturnType<ReturnType<typeof listed>['execute']>>[number]

function toListed({ owner_email, team_name, maker_email, ...row }: ListedRow): ListedAdminToken {
  return { ...toAdminToken(row), ownerName: team_name ?? owner_email ?? '', makerEmail: maker_email }
}

function toAdminTokenRow(token: AdminTokenRecord): AdminTokensTable {
  const { owner, spaces, commands, lastUse } = token
  return {
    id: token.id,
    token_hash: token.tokenHash,
    name: token.name,
    owner_user_id: owner.kind === 'personal' ? owner.userId : null,
    owner_team_id: owner.kind === 'team' ? owner.teamId : null,
    made_by: token.madeBy,
    spaces: spaces && JSON.stringify(spaces),
    commands: commands && JSON.stringify(commands),
    cidrs: JSON.stringify(token.cidrs),
    created_at: token.createdAt,
    expires_at: token.expiresAt,
    last_used_day: lastUse?.day ?? null,
    last_used_network: lastUse?.network ?? null,
  }
}

function toAdminToken(row: AdminTokensTable): AdminTokenRecord {
  const { spaces, commands } = row
  const day = toNumber(row.last_used_day)
  return {
    id: row.id,
    tokenHash: row.token_hash,
    name: row.name,
    owner: ownerOf(row),
    madeBy: row.made_by,
    spaces: spaces === null ? null : readColumn({ spaces }, 'spaces', textsIn),
    commands: commands === null ? null : readColumn({ commands }, 'commands', textsIn).map(toCommand),
    cidrs: readColumn(row, 'cidrs', textsIn),
    createdAt: Number(row.created_at),
    expiresAt: toNumber(row.expires_at),
    lastUse: day === null ? null : { day, network: row.last_used_network },
  }
}

/** A command that this version does not know fails the read: without it the token could do more than it was made for. */
function toCommand(command: string) {
  return choiceIn({ command }, 'command', adminCommands)
}

function ownerOf({ owner_user_id: userId, owner_team_id: teamId, made_by }: AdminTokensTable): AdminTokenOwner {
  if (teamId !== null) return { kind: 'team', teamId }
  return { kind: 'personal', userId: userId ?? made_by }
}
