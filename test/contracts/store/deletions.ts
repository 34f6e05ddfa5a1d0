import { expect, test } from 'vitest'
import type { OneTimeToken } from '../../../src/model/one-time-token.js'
import { isDisabled, type UserRecord } from '../../../src/model/user.js'
import type { OwnDeletion } from '../../../src/store/users.js'
import type { TestStore } from '../../support/databases.js'
import {
  aMail,
  anEvent,
  anUndo,
  atOnce,
  auditedEvents,
  aVerification,
  createdUser,
  keptToken,
  now,
  openedSession,
  stepOf,
  until,
  waitingMails,
} from './rows.js'

const deleted = () => anEvent({ event: 'account_deleted' })

function aWait(user: UserRecord): OneTimeToken {
  const bound = { expiresAt: now + 31_536_000, email: '', tokenHash: '', codeHash: null }
  return aVerification(user, { purpose: 'account_deletion', ...bound })
}

function deletionOf(user: UserRecord, overrides: Partial<OwnDeletion> = {}): OwnDeletion {
  const common = { userId: user.id, version: user.version, proof: null, wait: null, until, now }
  return { ...common, audit: deleted(), mails: [], ...overrides }
}

/** Deletions by the user, which wait while an undo of a changed address lives. */
export function deletionsContract(current: () => TestStore): void {
  /** A user who waits for the deletion, the undo of the former address, and the token that marks the wait. */
  async function waiting() {
    const { store } = current()
    const user = await createdUser(store, { emailVerified: true })
    const undo = await keptToken(store, anUndo(user, { email: 'former@example.com' }))
    const wait = aWait(user)
    expect(await store.users.deleteOwn(deletionOf(user, { wait }))).toBe('done')
    return { store, user, undo, wait }
  }
  const undone = (store: TestStore['store'], undo: OneTimeToken) =>
    store.users.undoEmail(
      undo.id,
      { email: 'former@example.com', factorSince: null, proof: null },
      now,
      stepOf('email_restored')(),
    )

  test('without an undo the account goes at once, with its mails, and of many calls at once one deletes it', async () => {
    const { store } = current()
    const user = await createdUser(store)
    const session = await openedSession(store, user)
    const mails = [aMail(), aMail()]
    const answers = await atOnce(() => store.users.deleteOwn(deletionOf(user, { mails })))
    expect(answers.filter((answer) => answer === 'done')).toHaveLength(1)
    expect(answers.filter((answer) => answer === null)).toHaveLength(answers.length - 1)
    expect(await store.users.findById(user.id)).toBeNull()
    expect(await store.sessions.find(session.id)).toBeNull()
    expect((await waitingMails(store)).sort()).toEqual(mails.map(({ id }) => id).sort())
    expect(await auditedEvents(store)).toContain('account_deleted')
  })

  test('nothing is deleted at another version, while disabled, or where the wait does not fit the undos', async () => {
    const { store } = current()
    const user = await createdUser(store)
    expect(await store.users.deleteOwn(deletionOf(user, { version: user.version + 1 }))).toBeNull()
    expect(await store.users.deleteOwn(deletionOf(user, { wait: aWait(user) }))).toBeNull()
    await keptToken(store, anUndo(user))
    expect(await store.users.deleteOwn(deletionOf(user))).toBeNull()
    const disabled = await createdUser(store, { disabledAt: now })
    expect(await store.users.deleteOwn(deletionOf(disabled))).toBeNull()
    expect(await store.users.findById(user.id)).toEqual(user)
  })

  test('while an undo lives the account waits, disabled, without sessions, and its undo enables it again', async () => {
    const { store, user, undo, wait } = await waiting()
    const seen = await store.users.findById(user.id)
    expect(seen && isDisabled(seen, now)).toBe(true)
    expect(seen?.version).toBe(user.version + 1)
    expect(await store.oneTimeTokens.listByUser('account_deletion', user.id, now)).toEqual([wait])
    expect(await store.oneTimeTokens.listByUser('email_undo', user.id, now)).toEqual([undo])

    const restored = await undone(store, undo)
    expect(restored).toMatchObject({ emailCanonical: 'former@example.com', disabledAt: null, disabledReason: null })
    expect(await store.users.deleteWaiting(wait, until, deleted())).toBe(false)
    expect(await store.users.findById(user.id)).toEqual(restored)
  })

  test('the end of the wait deletes the account once', async () => {
    const { store, user, wait } = await waiting()
    const answers = await atOnce(() => store.users.deleteWaiting(wait, until, deleted()))
    expect(answers.filter(Boolean)).toHaveLength(1)
    expect(await store.users.findById(user.id)).toBeNull()
  })

  test('an administrator who disables the account does not end the wait, and its undo leaves it disabled', async () => {
    const { store, user, undo } = await waiting()
    await store.users.disable(user.id, { at: now, until: null, reason: 'spam' }, stepOf('account_disabled')())
    expect(await store.oneTimeTokens.listByUser('account_deletion', user.id, now)).toHaveLength(1)
    expect(await undone(store, undo)).toMatchObject({ disabledAt: now, disabledReason: 'spam' })
    expect(await store.oneTimeTokens.listByUser('account_deletion', user.id, now)).toEqual([])
  })

  test('an administrator who enables the account ends the wait', async () => {
    const { store, user, wait } = await waiting()
    expect(await store.users.enable(user.id, now, stepOf('account_enabled')())).toMatchObject({ disabledAt: null })
    expect(await store.users.deleteWaiting(wait, until, deleted())).toBe(false)
  })

  test('an administrator who disables the account for a day does not open it while it waits', async () => {
    const { store, user, wait } = await waiting()
    const day = now + 86_400
    const step = stepOf('account_disabled')()
    await store.users.disable(user.id, { at: now, until: day, reason: 'spam' }, step)
    expect(await store.users.findById(user.id)).toMatchObject({ disabledUntil: null, disabledReason: 'spam' })
    expect(await store.users.enable(user.id, day, stepOf('account_enabled')())).toMatchObject({ disabledAt: null })
    expect(await store.users.deleteWaiting(wait, until, deleted())).toBe(false)
  })

  test.each([null, now + 1])('a wait deletes no account that is in use or will be (disabled until %s)', async (end) => {
    const { store } = current()
    const user = await createdUser(store, end === null ? {} : { disabledAt: now, disabledUntil: end })
    const wait = await keptToken(store, aWait(user))
    expect(await store.users.deleteWaiting(wait, until, deleted())).toBe(false)
    expect(await store.users.findById(user.id)).toEqual(user)
    await store.users.enable(user.id, now + 2, stepOf('account_enabled')())
    expect(await store.oneTimeTokens.listByUser('account_deletion', user.id, now)).toEqual([])
  })
}
