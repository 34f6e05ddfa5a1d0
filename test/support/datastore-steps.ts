import type { Store } from '../../src/store/store.js'
import {
  aMail,
  anEvent,
  anIdentity,
  aRegistration,
  aReset,
  aSession,
  aUser,
  createdUser,
  now,
  openedSession,
  until,
} from '../contracts/store/rows.js'

/** A step that writes many documents, and how to see what of it has happened. */
export interface LongStep {
  /** What must be there first; the rest is about it. */
  prepare(store: Store): Promise<{
    step(store: Store): Promise<unknown>
    /** One answer for each thing the step does: whether it has happened. */
    happened(store: Store): Promise<boolean[]>
  }>
}

async function wasTold(store: Store, subject: string): Promise<boolean> {
  return (await store.changes.current(0)).changes.some((change) => change.subject === subject)
}

async function wasAudited(store: Store, id: string): Promise<boolean> {
  return (await store.audit.list({ limit: 100 })).some((event) => event.id === id)
}

async function isWaiting(store: Store): Promise<boolean> {
  return (await store.outbox.depth()).waiting > 0
}

export const longSteps: Readonly<Record<string, LongStep>> = {
  'a reset of a password': {
    async prepare(store) {
      const user = await createdUser(store)
      const sessions = [await openedSession(store, user), await openedSession(store, user)]
      const token = aReset(user)
      await store.oneTimeTokens.put(token, null, { keep: 1, now })
      const audit = anEvent({ event: 'password_reset' })
      return {
        step: (acting) =>
          acting.users.resetPassword(token.id, 'password_reset', '$hash$new', now, { until, audit, mail: aMail() }),
        async happened(looking) {
          const found = await looking.users.findById(user.id)
          const ended = await Promise.all(sessions.map(({ id }) => looking.sessions.find(id)))
          return [
            found?.passwordHash === '$hash$new',
            found?.version === user.version + 1,
            ...ended.map((state) => state === null),
            (await looking.oneTimeTokens.findByHash('password_reset', [token.tokenHash], now)) === null,
            await isWaiting(looking),
            await wasAudited(looking, audit.id),
            await wasTold(looking, user.id),
          ]
        },
      }
    },
  },

  'a registration that becomes an account': {
    async prepare(store) {
      const user = aUser()
      const identity = anIdentity(user.id)
      const audit = anEvent({ event: 'account_created' })
      const [token, other] = [aRegistration(user.emailCanonical), aRegistration(user.emailCanonical)]
      for (const each of [token, other]) await store.oneTimeTokens.put(each, null, { keep: 3, now })
      return {
        step: (acting) => acting.users.createFromRegistration(user, token.id, now, audit, identity),
        happened: async (looking) => [
          (await looking.users.findByEmail(user.emailCanonical)) !== null,
          (await looking.identities.find(identity.provider, identity.subject)) !== null,
          (await looking.oneTimeTokens.listByEmail('registration', user.emailCanonical, now)).length === 0,
          await wasAudited(looking, audit.id),
        ],
      }
    },
  },

  'a sign-in that ends the oldest session': {
    async prepare(store) {
      const user = await createdUser(store)
      const oldest = await openedSession(store, user)
      const session = aSession(user.id, { createdAt: now + 1 })
      const audit = anEvent({ event: 'login' })
      return {
        step: (acting) => acting.sessions.open(session, user.version, { maxSessions: 1, until, mail: aMail() }, audit),
        happened: async (looking) => [
          (await looking.sessions.find(session.id)) !== null,
          (await looking.sessions.find(oldest.id)) === null,
          (await looking.users.findById(user.id))?.lastLoginAt === now + 1,
          await isWaiting(looking),
          await wasAudited(looking, audit.id),
          await wasTold(looking, oldest.id),
        ],
      }
    },
  },
}
