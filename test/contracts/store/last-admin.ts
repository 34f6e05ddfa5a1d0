import { expect, test } from 'vitest'
import { isProved } from '../../../src/model/admin-role.js'
import type { UserRecord } from '../../../src/model/user.js'
import type { Store } from '../../../src/store/store.js'
import type { TestStore } from '../../support/databases.js'
import {
  aChange,
  aMail,
  anEvent,
  anUndo,
  aReset,
  auditedEvents,
  createdUser,
  keptToken,
  now,
  randomEmail,
  stepOf,
  until,
} from './rows.js'

const aStep = stepOf('account_disabled')
const proved = { emailVerified: true, verifiedBy: 'mailbox' } as const
const disabling = { at: now, until: null, reason: null }

/** How an administrator becomes unusable. Each must refuse the last one. */
export const lossOfAdmin: Record<
  string,
  (store: Store, user: UserRecord, keepAdmin?: readonly string[]) => Promise<unknown>
> = {
  'is disabled': (store, { id }, keepAdmin) =>
    store.users.disable(id, disabling, aStep({ audit: anEvent() }), keepAdmin),
  'is deleted': (store, { id }, keepAdmin) => store.users.delete(id, until, anEvent(), keepAdmin),
  'must reset': (store, user, keepAdmin) =>
    store.users.demandReset(user.id, aReset(user), aStep({ audit: anEvent() }), keepAdmin),
  'leaves the address unproved': (store, user, keepAdmin) => changeEmail(store, user, { verifiedBy: null, keepAdmin }),
}

/** As the link of a change does it. */
async function changeEmail(
  store: Store,
  user: UserRecord,
  {
    email = randomEmail(),
    verifiedBy = 'mailbox',
    keepAdmin,
  }: { email?: string; verifiedBy?: 'mailbox' | null; keepAdmin?: readonly string[] | undefined },
) {
  const token = await keptToken(store, aChange(user, email))
  const undo = { token: anUndo(user), mail: aMail() }
  const change = { email, verifiedBy, version: user.version, undo, ...(keepAdmin && { keepAdmin }) }
  return store.users.changeEmail(token.id, change, now, aStep({ audit: anEvent() }))
}

export async function usableAmong(store: Store, users: readonly Pick<UserRecord, 'id'>[]): Promise<UserRecord[]> {
  const found = await Promise.all(users.map(({ id }) => store.users.findById(id)))
  return found.flatMap((user) => (user && isProved(user) && user.disabledAt === null && !user.mustReset ? [user] : []))
}

export function lastAdminContract(current: () => TestStore): void {
  test('the last administrator who is not disabled is neither disabled nor deleted', async () => {
    const { store, changes } = current()
    const [admin, second, shut, unproved, other] = [
      await createdUser(store, proved),
      await createdUser(store, { ...proved, verifiedBy: 'provider' }),
      await createdUser(store, { ...proved, disabledAt: now - 5 }),
      await createdUser(store, { emailVerified: true, verifiedBy: 'trusted_provider' }),
      await createdUser(store, proved),
    ]
    const emails = [admin, second, shut, unproved].map(({ emailCanonical }) => emailCanonical)
    const step = () => aStep({ audit: anEvent({ event: 'account_disabled' }) })
    expect(await store.users.disable(second.id, disabling, step(), emails)).toMatchObject({ disabledAt: now })
    const before = [changes.length, (await auditedEvents(store)).length]
    expect(await store.users.disable(admin.id, disabling, step(), emails)).toBe('last_admin')
    expect(await store.users.delete(admin.id, until, anEvent(), emails)).toBe('last_admin')
    expect(await store.users.findById(admin.id)).toEqual(admin)
    expect([changes.length, (await auditedEvents(store)).length]).toEqual(before)

    for (const { id } of [other, shut, unproved])
      expect(await store.users.delete(id, until, anEvent(), emails)).toBe(true)
    expect(await store.users.delete('unknown', until, anEvent(), emails)).toBe(false)
    expect(await store.users.delete(admin.id, until, anEvent())).toBe(true)
  })

  test('ATK-125 of many that take away an administrator at once, one administrator stays', async () => {
    const { store } = current()
    const admins = await Promise.all(Array.from({ length: 4 }, () => createdUser(store, proved)))
    const emails = admins.map(({ emailCanonical }) => emailCanonical)
    const results = await Promise.all(
      admins.map(({ id }, index) =>
        index % 2 === 0
          ? store.users.delete(id, until, anEvent(), emails)
          : store.users.disable(id, disabling, aStep({ audit: anEvent() }), emails),
      ),
    )
    expect(results.filter((result) => result === 'last_admin')).toHaveLength(1)
    const left = await Promise.all(admins.map(({ id }) => store.users.findById(id)))
    expect(left.filter((user) => user && user.disabledAt === null)).toHaveLength(1)
  })

  test('an administrator who must set a new password does not count as the one who stays', async () => {
    const { store } = current()
    const [admin, second] = [await createdUser(store, proved), await createdUser(store, { ...proved, mustReset: true })]
    const emails = [admin, second].map(({ emailCanonical }) => emailCanonical)
    for (const [way, lose] of Object.entries(lossOfAdmin))
      expect([way, await lose(store, admin, emails)]).toEqual([way, 'last_admin'])
    expect(await store.users.findById(admin.id)).toEqual(admin)
    expect(await store.oneTimeTokens.listByEmail('password_reset', admin.emailCanonical, now)).toEqual([])
  })

  test('the last administrator takes another address of an administrator, and no other', async () => {
    const { store, changes } = current()
    const [admin, spare] = [await createdUser(store, proved), randomEmail()]
    const keepAdmin = [admin.emailCanonical, spare]
    expect(await changeEmail(store, admin, { keepAdmin })).toBe('last_admin')
    expect(await changeEmail(store, admin, { email: spare, verifiedBy: null, keepAdmin })).toBe('last_admin')
    expect(await store.users.findById(admin.id)).toEqual(admin)
    expect(changes).toEqual([])
    expect(await changeEmail(store, admin, { email: spare, keepAdmin })).toMatchObject({ emailCanonical: spare })
  })

  test('ATK-239 of two administrators who become unusable at once, by any two of the steps, one stays', async () => {
    const { store } = current()
    const leaves = (each: Store, user: UserRecord, keepAdmin?: readonly string[]) =>
      changeEmail(each, user, { keepAdmin })
    const ways = { ...lossOfAdmin, 'leaves the address': leaves }
    for (const [first, loseFirst] of Object.entries(ways)) {
      for (const [second, loseSecond] of Object.entries(ways)) {
        const [one, other] = [await createdUser(store, proved), await createdUser(store, proved)]
        const emails = [one, other].map(({ emailCanonical }) => emailCanonical)
        const answers = await Promise.all([loseFirst(store, one, emails), loseSecond(store, other, emails)])
        const left = (await usableAmong(store, [one, other])).filter(({ emailCanonical }) =>
          emails.includes(emailCanonical),
        )
        const refused = answers.filter((answer) => answer === 'last_admin')
        expect([first, second, left.length, refused.length]).toEqual([first, second, 1, 1])
      }
    }
  })
}
