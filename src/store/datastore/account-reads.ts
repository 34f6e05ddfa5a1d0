import { credentialHash, toPasskey } from '../accounts/passkey-rows.js'
import type { Identities } from '../identities.js'
import type { Passkeys } from '../passkeys.js'
import type { SessionsTable, UsersTable } from '../rows.js'
import { isLive, toSession } from '../session-rows.js'
import type { SessionState, Sessions } from '../sessions.js'
import { identities, passkeys, sessions, users } from '../tables.js'
import { toUser } from '../user-rows.js'
import type { Users } from '../users.js'
import { newestBefore } from './engine/newest-before.js'
import type { Steps } from './engine/steps.js'

/** Reads of users and of what belongs to them. Each sees every step whole. */
export function readAccounts(steps: Steps): {
  users: Pick<Users, 'findById' | 'findByEmail'>
  identities: Pick<Identities, 'find'>
  passkeys: Pick<Passkeys, 'find' | 'countOfOthers'>
  sessions: Pick<Sessions, 'find' | 'recent' | 'count'>
} {
  return {
    users: {
      findById: (id) =>
        steps.read(async (view) => {
          const row = await view.get(users, { id })
          return row && toUser(row)
        }),
      findByEmail: (email_canonical) =>
        steps.read(async (view) => {
          const [row] = await view.find(users, { email_canonical })
          return row ? toUser(row) : null
        }),
    },
    identities: {
      find: (provider, subject) =>
        steps.read(async (view) => {
          const identity = await view.get(identities, { provider, subject })
          const row = identity && (await view.get(users, { id: identity.user_id }))
          return row && toUser(row)
        }),
    },
    passkeys: {
      find: (rpId, credentialId) =>
        steps.read(async (view) => {
          const row = await view.get(passkeys, { rp_id: rpId, credential_hash: credentialHash(credentialId) })
          const user = row && (await view.get(users, { id: row.user_id }))
          return row && user && { passkey: toPasskey(row), user: toUser(user) }
        }),
      countOfOthers: (rpId) => steps.read(async (view) => (await view.find(passkeys, { rp_id: { ne: rpId } })).length),
    },
    sessions: readSessions(steps),
  }
}

function readSessions(steps: Steps): Pick<Sessions, 'find' | 'recent' | 'count'> {
  return {
    find: (id) =>
      steps.read(async (view) => {
        const session = await view.get(sessions, { id })
        const user = session && (await view.get(users, { id: session.user_id }))
        return user && toState(steps, session, user)
      }),

    recent: ({ after, limit, now }) =>
      steps.read(async (view) => {
        const rows = await newestBefore(view, sessions, after, { limit, query: {}, keep: (row) => isLive(row, now) })
        const ids = [...new Set(rows.map(({ user_id }) => user_id))]
        const owners = ids.length === 0 ? [] : await view.find(users, { key: { in: ids } })
        const emails = new Map(owners.map(({ id, email }) => [id, email]))
        return rows.flatMap((row) => {
          const email = emails.get(row.user_id)
          return email === undefined ? [] : [{ session: toSession(row), email }]
        })
      }),

    // The Datastore has no count.
    count: async () => null,
  }
}

export function toState(steps: Steps, session: SessionsTable, user: UsersTable): SessionState {
  return { session: toSession(session), user: toUser(user), storeNowMs: steps.nowMs() }
}
