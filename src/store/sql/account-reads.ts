import type { Kysely } from 'kysely'
import { credentialHash, toPasskey } from '../accounts/passkey-rows.js'
import type { Identities } from '../identities.js'
import type { Passkeys } from '../passkeys.js'
import { toSession } from '../session-rows.js'
import type { SessionState, Sessions } from '../sessions.js'
import { toUser } from '../user-rows.js'
import type { Users } from '../users.js'
import type { Flavour } from './engine/flavour.js'
import type { Tables } from './engine/schema.js'
import { stateColumns, toState } from './engine/session-rows.js'
import type { Steps } from './engine/steps.js'

/** Reads of users and of what belongs to them. Requests wait for them, so each is one statement without a transaction. */
export function readAccounts(steps: Steps): {
  users: Pick<Users, 'findById' | 'findByEmail'>
  identities: Pick<Identities, 'find'>
  passkeys: Pick<Passkeys, 'find' | 'countOfOthers'>
  sessions: Pick<Sessions, 'find' | 'recent' | 'count'>
} {
  return {
    users: {
      findById: (id) => steps.step((db) => readUser(db, 'id', id)),
      findByEmail: (email) => steps.step((db) => readUser(db, 'email_canonical', email)),
    },
    identities: {
      find: (provider, subject) =>
        steps.step(async (db) => {
          const row = await db
            .selectFrom('latchkey_identities as i')
            .innerJoin('latchkey_users as u', 'u.id', 'i.user_id')
            .selectAll('u')
            .where('i.provider', '=', provider)
            .where('i.subject', '=', subject)
            .executeTakeFirst()
          return row ? toUser(row) : null
        }),
    },
    passkeys: readPasskeys(steps),
    sessions: readSessions(steps),
  }
}

async function readUser(db: Kysely<Tables>, column: 'id' | 'email_canonical', value: string) {
  const row = await db.selectFrom('latchkey_users').selectAll().where(column, '=', value).executeTakeFirst()
  return row ? toUser(row) : null
}

function readPasskeys(steps: Steps): Pick<Passkeys, 'find' | 'countOfOthers'> {
  return {
    find: (rpId, credentialId) =>
      steps.step(async (db) => {
        const row = await db
          .selectFrom('latchkey_passkeys')
          .innerJoin('latchkey_users', 'latchkey_users.id', 'latchkey_passkeys.user_id')
          .selectAll('latchkey_users')
          .select(columnsBesideUser)
          .where('latchkey_passkeys.rp_id', '=', rpId)
          .where('latchkey_passkeys.credential_hash', '=', credentialHash(credentialId))
          .executeTakeFirst()
        if (!row) return null
        const { passkey_id: id, passkey_name: name, passkey_created_at: created_at } = row
        return { passkey: toPasskey({ ...row, id, name, created_at }), user: toUser(row) }
      }),

    countOfOthers: (rpId) =>
      steps.step(async (db) => {
        const counted = db.selectFrom('latchkey_passkeys').select((eb) => eb.fn.countAll().as('count'))
        const row = await counted.where('rp_id', '<>', rpId).executeTakeFirst()
        return Number(row?.count ?? 0)
      }),
  }
}

function readSessions(steps: Steps): Pick<Sessions, 'find' | 'recent' | 'count'> {
  return {
    find: (id) => steps.step((db) => readState(steps.flavour, db, id)),

    recent: ({ after, limit, now }) =>
      steps.step(async (db) => {
        const live = db
          .selectFrom('latchkey_sessions')
          .innerJoin('latchkey_users', 'latchkey_users.id', 'latchkey_sessions.user_id')
          .selectAll('latchkey_sessions')
          .select('latchkey_users.email')
          .where('latchkey_sessions.expires_at', '>', now)
          .where('latchkey_sessions.refresh_expires_at', '>', now)
        const columns = ['latchkey_sessions.created_at', 'latchkey_sessions.id'] as const
        const rows = after ? live.where(steps.flavour.before(columns, [after.createdAt, after.id])) : live
        const found = await rows.orderBy(columns[0], 'desc').orderBy(columns[1], 'desc').limit(limit).execute()
        return found.map((row) => ({ session: toSession(row), email: row.email }))
      }),

    count: (now) =>
      steps.step(async (db) => {
        const live = db
          .selectFrom('latchkey_sessions')
          .select((eb) => eb.fn.countAll().as('count'))
          .where('refresh_expires_at', '>', now)
        return Number((await live.executeTakeFirstOrThrow()).count)
      }),
  }
}

/** The session, its user and the store's clock in one statement, so that they belong together. */
export async function readState(flavour: Flavour, db: Kysely<Tables>, id: string): Promise<SessionState | null> {
  const row = await db
    .selectFrom('latchkey_sessions')
    .innerJoin('latchkey_users', 'latchkey_users.id', 'latchkey_sessions.user_id')
    .selectAll('latchkey_sessions')
    .select(stateColumns)
    .select(flavour.storeNowMs().as('store_now_ms'))
    .where('latchkey_sessions.id', '=', id)
    .executeTakeFirst()
  return row ? toState(row) : null
}

/** The columns of a passkey beside all columns of its user. Those of the same name have another one. */
const columnsBesideUser = [
  'latchkey_passkeys.id as passkey_id',
  'latchkey_passkeys.name as passkey_name',
  'latchkey_passkeys.created_at as passkey_created_at',
  'latchkey_passkeys.user_id',
  'latchkey_passkeys.rp_id',
  'latchkey_passkeys.credential_hash',
  'latchkey_passkeys.credential_id',
  'latchkey_passkeys.public_key',
  'latchkey_passkeys.algorithm',
  'latchkey_passkeys.sign_count',
  'latchkey_passkeys.backup_eligible',
  'latchkey_passkeys.backed_up',
  'latchkey_passkeys.transports',
  'latchkey_passkeys.aaguid',
  'latchkey_passkeys.user_handle',
  'latchkey_passkeys.suspended_at',
  'latchkey_passkeys.last_used_at',
] as const
