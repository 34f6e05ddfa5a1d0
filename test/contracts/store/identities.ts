import { expect, test } from 'vitest'
import type { Identity } from '../../../src/model/identity.js'
import type { UserRecord } from '../../../src/model/user.js'
import type { Store } from '../../../src/store/store.js'
import { randomId, type TestStore } from '../../support/databases.js'
import {
  aChallenge,
  aMail,
  anEvent,
  anIdentity,
  anUndo,
  aRegistration,
  aSession,
  aTotp,
  atOnce,
  aUser,
  auditedEvents,
  createdUser,
  crowd,
  keptToken,
  now,
  openedSession,
  stepOf,
  until,
  waitingMails,
} from './rows.js'

export function identitiesContract(current: () => TestStore): void {
  creatingContract(current)
  registeringContract(current)
  linkingContract(current)
  provingContract(current)
  unlinkingContract(current)
  endingContract(current)
  racingContract(current)
}

const linked = stepOf('identity_linked')
const unlinked = stepOf('identity_unlinked')

/** A user with a verified address who is signed in. */
async function signedIn(store: Store, overrides: Partial<UserRecord> = {}) {
  const user = await createdUser(store, { emailVerified: true, ...overrides })
  return { user, session: await openedSession(store, user) }
}

/** A user with a verified address, no password and an identity of each of these providers, signed in. */
async function federated(store: Store, ...providers: string[]) {
  const { user, session } = await signedIn(store, { passwordHash: null })
  for (const provider of providers) {
    const identity = anIdentity(user.id, { provider })
    await store.identities.link({ identity, by: { sessionId: session.id } }, linked())
  }
  return { user, session }
}

function told(...identities: Identity[]) {
  return identities.map(({ provider, linkedAt }) => ({ provider, linkedAt }))
}

function creatingContract(current: () => TestStore): void {
  test('a user is created with an identity, found by it, and their record tells of it', async () => {
    const { store } = current()
    const user = aUser({ emailVerified: true, passwordHash: null })
    const identity = anIdentity(user.id)
    await keptToken(store, aRegistration(user.emailCanonical))
    const audit = anEvent({ event: 'account_created' })
    expect(await store.identities.create(user, identity, audit)).toBe(true)
    const created = { ...user, identities: told(identity) }
    expect(await store.identities.find('google', identity.subject)).toEqual(created)
    expect(await store.users.findById(user.id)).toEqual(created)
    expect(await store.users.list({ query: null, after: null, limit: 5 })).toEqual([created])
    const session = await openedSession(store, user)
    expect((await store.sessions.find(session.id))?.user.identities).toEqual(told(identity))
    expect(await store.oneTimeTokens.listByEmail('registration', user.emailCanonical, now)).toEqual([])
    expect(await auditedEvents(store)).toEqual(['account_created', 'login'])
  })

  test('providers and subjects are compared byte by byte', async () => {
    const { store } = current()
    const subjects = ['abc', 'ABC', 'äbc', 'a\u0308bc', 'ab', 'a b', '1', '01', '1.0', 'x'.repeat(255)]
    for (const subject of subjects) {
      const user = aUser()
      expect(await store.identities.create(user, anIdentity(user.id, { subject }), anEvent()), subject).toBe(true)
      expect((await store.identities.find('google', subject))?.id).toBe(user.id)
    }
    for (const [provider, subject] of [
      ['Google', 'abc'],
      ['github', 'abc'],
      ['google', 'Abc'],
      ['google', 'abc2'],
    ] as const) {
      expect(await store.identities.find(provider, subject)).toBeNull()
    }
  })

  test('a user whose address or identity is taken is not created, and nothing of them stays', async () => {
    const { store } = current()
    const first = aUser()
    const identity = anIdentity(first.id)
    await store.identities.create(first, identity, anEvent())
    const before = await auditedEvents(store)

    const sameAddress = aUser({ emailCanonical: first.emailCanonical })
    const other = anIdentity(sameAddress.id)
    expect(await store.identities.create(sameAddress, other, anEvent())).toBe(false)
    expect(await store.identities.find('google', other.subject)).toBeNull()
    const sameIdentity = aUser()
    expect(await store.identities.create(sameIdentity, { ...identity, userId: sameIdentity.id }, anEvent())).toBe(false)
    expect(await store.users.findById(sameIdentity.id)).toBeNull()
    expect(await auditedEvents(store)).toEqual(before)
  })

  test('an address that another user may take back is taken', async () => {
    const { store } = current()
    const owner = await createdUser(store)
    await keptToken(store, anUndo(owner, { email: 'left@example.com' }))
    const user = aUser({ emailCanonical: 'left@example.com' })
    expect(await store.identities.create(user, anIdentity(user.id), anEvent({ atMs: now * 1000 }))).toBe(false)
    const later = anEvent({ atMs: (now + 604_800) * 1000 })
    expect(await store.identities.create(user, anIdentity(user.id), later)).toBe(true)
  })
}

function registeringContract(current: () => TestStore): void {
  test('a registration can carry an identity, which its user has then', async () => {
    const { store } = current()
    const user = aUser({ passwordHash: null })
    const identity = anIdentity(user.id)
    const { id } = await keptToken(store, aRegistration(user.emailCanonical))
    expect(await store.users.createFromRegistration(user, id, now, anEvent(), identity)).toBe(true)
    const created = { ...user, identities: told(identity) }
    expect(await store.identities.find('google', identity.subject)).toEqual(created)
    expect(await store.users.findById(user.id)).toEqual(created)
  })

  test('a registration whose identity was taken meanwhile creates nobody and stays', async () => {
    const { store } = current()
    const { user: owner, session } = await signedIn(store)
    const user = aUser({ passwordHash: null })
    const identity = anIdentity(user.id)
    const registration = await keptToken(store, aRegistration(user.emailCanonical))
    const theirs = { ...identity, userId: owner.id }
    await store.identities.link({ identity: theirs, by: { sessionId: session.id } }, linked())
    expect(await store.users.createFromRegistration(user, registration.id, now, anEvent(), identity)).toBe(false)
    expect(await store.users.findById(user.id)).toBeNull()
    expect(await store.oneTimeTokens.listByEmail('registration', user.emailCanonical, now)).toEqual([registration])
  })
}

function linkingContract(current: () => TestStore): void {
  test('a live session links an identity, and every access token goes on', async () => {
    const { store, changes } = current()
    const { user, session } = await signedIn(store)
    const [google, github] = [anIdentity(user.id), anIdentity(user.id, { provider: 'github', linkedAt: now - 9 })]
    const mail = aMail()
    await store.identities.link({ identity: google, by: { sessionId: session.id } }, linked({ mail }))
    const after = await store.identities.link({ identity: github, by: { sessionId: session.id } }, linked())
    expect(after).toEqual({ ...user, lastLoginAt: now, identities: told(github, google) })
    expect(await store.users.findById(user.id)).toEqual(after)
    expect(await store.identities.find('github', github.subject)).toEqual(after)
    expect(await waitingMails(store)).toContain(mail.id)
    expect(await auditedEvents(store)).toEqual(['account_created', 'login', 'identity_linked', 'identity_linked'])
    expect(changes).toEqual([])
  })

  test('linking what is linked already answers the user and writes nothing', async () => {
    const { store } = current()
    const { user, session } = await signedIn(store)
    const identity = anIdentity(user.id)
    const by = { sessionId: session.id }
    const first = await store.identities.link({ identity, by }, linked())
    const mail = aMail({ id: 'again' })
    const again = await store.identities.link({ identity: { ...identity, linkedAt: now + 5 }, by }, linked({ mail }))
    expect(again).toEqual(first)
    expect(await waitingMails(store)).not.toContain('again')
    expect((await auditedEvents(store)).filter((event) => event === 'identity_linked')).toHaveLength(1)
  })

  test('another user’s identity, or a second one of a provider, is taken', async () => {
    const { store } = current()
    const [ada, grace] = [await signedIn(store), await signedIn(store)]
    const identity = anIdentity(ada.user.id)
    await store.identities.link({ identity, by: { sessionId: ada.session.id } }, linked())
    const theirs = { identity: { ...identity, userId: grace.user.id }, by: { sessionId: grace.session.id } }
    expect(await store.identities.link(theirs, linked())).toBe('taken')
    const second = { identity: anIdentity(ada.user.id), by: { sessionId: ada.session.id } }
    expect(await store.identities.link(second, linked())).toBe('taken')
    expect((await store.identities.find('google', identity.subject))?.id).toBe(ada.user.id)
    expect((await store.users.findById(grace.user.id))?.identities).toEqual([])
  })

  test('a session that has ended, expired or is another’s links nothing; nor does a disabled user', async () => {
    const { store } = current()
    const { user, session } = await signedIn(store)
    const other = await signedIn(store)
    const attempt = (sessionId: string, linkedAt = now) => {
      const identity = anIdentity(user.id, { linkedAt })
      return store.identities.link({ identity, by: { sessionId } }, linked())
    }
    expect(await attempt('unknown')).toBeNull()
    expect(await attempt(other.session.id)).toBeNull()
    expect(await attempt(session.id, session.refreshExpiresAt)).toBeNull()
    await store.sessions.end(session.id, null, { until, audit: anEvent() })
    expect(await attempt(session.id)).toBeNull()
    const { id } = await openedSession(store, user)
    await store.users.disable(user.id, { at: now, until: null, reason: null }, stepOf('account_disabled')())
    expect(await attempt(id)).toBeNull()
    expect((await store.users.findById(user.id))?.identities).toEqual([])
    expect(await store.identities.link({ identity: anIdentity('nobody'), by: { email: '' } }, linked())).toBeNull()
  })

  test('an address links only where it is the user’s and verified', async () => {
    const { store } = current()
    const user = await createdUser(store, { emailVerified: true })
    const unproven = await createdUser(store)
    const attempt = (userId: string, email: string) =>
      store.identities.link({ identity: anIdentity(userId), by: { email } }, linked())
    expect(await attempt(unproven.id, unproven.emailCanonical)).toBeNull()
    expect(await attempt(user.id, unproven.emailCanonical)).toBeNull()
    expect(await attempt(user.id, user.emailCanonical)).toMatchObject({ id: user.id, version: user.version })
  })
}

function provingContract(current: () => TestStore): void {
  test('a first proof by a provider keeps nothing that may have been planted but the identity that proves', async () => {
    const { store, changes } = current()
    const factors = [aTotp({ sealedSecret: 'key1.seed' })]
    const plantedUser = await createdUser(store, { factors })
    const session = await openedSession(store, plantedUser)
    const thief = anIdentity(plantedUser.id, { provider: 'github' })
    await store.identities.link({ identity: thief, by: { sessionId: session.id } }, linked())
    await keptToken(store, aChallenge(plantedUser))
    const identity = anIdentity(plantedUser.id)
    const mail = aMail()
    const proved = await store.identities.linkByProof(
      identity,
      { email: plantedUser.emailCanonical, verifiedBy: 'trusted_provider' },
      linked({ mail }),
    )
    const proof = { emailVerified: true, verifiedBy: 'trusted_provider' }
    const clean = { ...proof, version: 2, passwordHash: null, name: null, fields: {}, factors: [] }
    expect(proved).toEqual({ ...plantedUser, ...clean, lastLoginAt: now, identities: told(identity) })
    expect(await store.users.findById(plantedUser.id)).toEqual(proved)
    expect(await store.identities.find('github', thief.subject)).toBeNull()
    expect(await store.sessions.find(session.id)).toBeNull()
    expect(await store.oneTimeTokens.listByEmail('two_factor', plantedUser.emailCanonical, now)).toEqual([])
    expect(changes).toEqual([expect.objectContaining({ kind: 'user', subject: plantedUser.id, version: 2, until })])
    expect(await waitingMails(store)).toContain(mail.id)
  })

  test('it changes nothing for a verified, disabled or unknown user, another address or a taken identity', async () => {
    const { store } = current()
    const verified = await createdUser(store, { emailVerified: true })
    const disabled = await createdUser(store, { disabledAt: now })
    const plantedUser = await createdUser(store)
    const attempt = ({ id, emailCanonical }: Pick<UserRecord, 'id' | 'emailCanonical'>, subject = randomId()) =>
      store.identities.linkByProof(
        anIdentity(id, { subject }),
        { email: emailCanonical, verifiedBy: 'provider' },
        linked(),
      )
    expect(await attempt(verified)).toBeNull()
    expect(await attempt(disabled)).toBeNull()
    expect(await attempt({ id: 'unknown', emailCanonical: plantedUser.emailCanonical })).toBeNull()
    expect(await attempt({ id: plantedUser.id, emailCanonical: 'other@example.com' })).toBeNull()
    const link = { identity: anIdentity(verified.id, { subject: 'taken' }), by: { email: verified.emailCanonical } }
    await store.identities.link(link, linked())
    expect(await attempt(plantedUser, 'taken')).toBe('taken')
    expect(await store.users.findById(plantedUser.id)).toEqual(plantedUser)
    expect(await store.users.findById(disabled.id)).toEqual(disabled)
  })

  test('a first proof by a mail drops identities, too', async () => {
    const { store } = current()
    const plantedUser = await createdUser(store)
    const session = await openedSession(store, plantedUser)
    const identity = anIdentity(plantedUser.id)
    await store.identities.link({ identity, by: { sessionId: session.id } }, linked())
    const reset = await keptToken(store, aRegistration(plantedUser.emailCanonical, { ...ofUser(plantedUser) }))
    const after = await store.users.resetPassword(
      reset.id,
      'password_reset',
      '$hash$2',
      now,
      stepOf('password_reset')(),
    )
    expect(after).toMatchObject({ emailVerified: true, identities: [] })
    expect(await store.identities.find('google', identity.subject)).toBeNull()
  })
}

function ofUser({ id }: UserRecord) {
  return { purpose: 'password_reset', subject: id, userId: id } as const
}

function unlinkingContract(current: () => TestStore): void {
  const from = (provider: string, userId: string, fromSessionId: string) => ({
    provider,
    userId,
    fromSessionId,
    rpId: 'example.test',
  })

  test('an identity is taken away, with what waits for a second step; others stay, and so does the session', async () => {
    const { store, changes } = current()
    const { user, session } = await federated(store, 'google', 'github')
    const challenge = await keptToken(store, aChallenge(user))
    const mail = aMail()
    const after = await store.identities.unlink(from('google', user.id, session.id), unlinked({ mail }))
    expect(after).toMatchObject({ id: user.id, identities: [{ provider: 'github' }], version: user.version })
    expect(await store.users.findById(user.id)).toEqual(after)
    expect(await store.oneTimeTokens.findByHash('two_factor', [challenge.tokenHash], now)).toBeNull()
    expect(await store.sessions.find(session.id)).not.toBeNull()
    expect([await waitingMails(store), changes]).toEqual([expect.arrayContaining([mail.id]), []])
    expect(await auditedEvents(store)).toContain('identity_unlinked')
  })

  test('the last way in stays; with a password every identity may go', async () => {
    const { store } = current()
    const { user, session } = await federated(store, 'google')
    const before = await store.users.findById(user.id)
    expect(await store.identities.unlink(from('google', user.id, session.id), unlinked())).toBe('last')
    expect(await store.users.findById(user.id)).toEqual(before)
    const anew = aSession(user.id)
    const change = {
      userId: user.id,
      version: user.version,
      fromSessionId: session.id,
      passwordHash: '$h',
      session: anew,
    }
    await store.users.changePassword(change, stepOf('password_changed')())
    const after = await store.identities.unlink(from('google', user.id, anew.id), unlinked())
    expect(after).toMatchObject({ identities: [], passwordHash: '$h' })
  })

  test('what is not linked, an ended session and an unknown user change nothing', async () => {
    const { store } = current()
    const { user, session } = await federated(store, 'google', 'github')
    const attempt = (provider: string, userId: string, sessionId: string) =>
      store.identities.unlink(from(provider, userId, sessionId), unlinked())
    expect(await attempt('gitlab', user.id, session.id)).toBeNull()
    expect(await attempt('google', 'unknown', session.id)).toBeNull()
    expect(await attempt('google', user.id, 'unknown')).toBeNull()
    await store.sessions.end(session.id, null, { until, audit: anEvent() })
    expect(await attempt('google', user.id, session.id)).toBeNull()
    expect((await store.users.findById(user.id))?.identities).toHaveLength(2)
  })
}

function endingContract(current: () => TestStore): void {
  test('identities go with their user and can be linked anew', async () => {
    const { store } = current()
    const { user, session } = await signedIn(store)
    const identity = anIdentity(user.id)
    await store.identities.link({ identity, by: { sessionId: session.id } }, linked())
    await store.users.delete(user.id, until, anEvent())
    expect(await store.identities.find('google', identity.subject)).toBeNull()
    const next = aUser()
    expect(await store.identities.create(next, { ...identity, userId: next.id }, anEvent())).toBe(true)
  })

  test('taking an address back drops what was linked since the change, and nothing older', async () => {
    const { store } = current()
    const { user, session } = await signedIn(store)
    const [owners, thiefs] = [anIdentity(user.id, { linkedAt: now - 1 }), anIdentity(user.id, { provider: 'github' })]
    await store.identities.link({ identity: owners, by: { sessionId: session.id } }, linked())
    const undo = await keptToken(store, anUndo(user))
    await store.identities.link({ identity: thiefs, by: { sessionId: session.id } }, linked())
    const how = { email: user.email, factorSince: null, proof: null }
    const restored = await store.users.undoEmail(undo.id, how, now, stepOf('email_restored')())
    expect(restored?.identities).toEqual(told(owners))
    expect(await store.identities.find('github', thiefs.subject)).toBeNull()
    expect(await store.identities.find('google', owners.subject)).toEqual(restored)
  })
}

function racingContract(current: () => TestStore): void {
  test('of many users that are created with one identity at once, exactly one is', async () => {
    const { store } = current()
    const users = Array.from({ length: crowd }, () => aUser())
    const subject = randomId()
    const create = (index: number) => {
      const user = users[index] ?? aUser()
      return store.identities.create(user, anIdentity(user.id, { subject }), anEvent())
    }
    expect((await atOnce(create)).filter(Boolean)).toHaveLength(1)
    const present = await Promise.all(users.map(({ id }) => store.users.findById(id)))
    expect(present.filter((user) => user !== null)).toHaveLength(1)
  })

  test('of many users that link one identity at once, exactly one does', async () => {
    const { store } = current()
    const people = await Promise.all(Array.from({ length: crowd }, () => signedIn(store)))
    const subject = randomId()
    const outcomes = await Promise.all(
      people.map(({ user, session }) =>
        store.identities.link({ identity: anIdentity(user.id, { subject }), by: { sessionId: session.id } }, linked()),
      ),
    )
    expect(outcomes.filter((outcome) => outcome !== 'taken')).toHaveLength(1)
    const owner = await store.identities.find('google', subject)
    const records = await Promise.all(people.map(({ user }) => store.users.findById(user.id)))
    expect(records.filter((record) => record?.identities.length).map((record) => record?.id)).toEqual([owner?.id])
  })

  test('many links of one identity to one user at once are one link', async () => {
    const { store } = current()
    const { user, session } = await signedIn(store)
    const identity = anIdentity(user.id)
    const link = () => store.identities.link({ identity, by: { sessionId: session.id } }, linked())
    const outcomes = await atOnce(link)
    expect(outcomes.map((outcome) => outcome !== null && outcome !== 'taken' && outcome.id)).toEqual(
      outcomes.map(() => user.id),
    )
    expect((await auditedEvents(store)).filter((event) => event === 'identity_linked')).toHaveLength(1)
  })

  test('of the last two identities of a user, never both go', async () => {
    const { store } = current()
    for (let round = 0; round < crowd; round += 1) {
      const { user, session } = await federated(store, 'google', 'github')
      const outcomes = await Promise.all(
        ['google', 'github'].map((provider) =>
          store.identities.unlink({ userId: user.id, provider, fromSessionId: session.id, rpId: null }, unlinked()),
        ),
      )
      expect(outcomes.filter((outcome) => outcome === 'last')).toHaveLength(1)
      expect((await store.users.findById(user.id))?.identities).toHaveLength(1)
    }
  })

  test('a session that ends while it links has linked before it ended, or nothing', async () => {
    const { store } = current()
    for (let round = 0; round < crowd; round += 1) {
      const { user, session } = await signedIn(store)
      const anew = aSession(user.id)
      const change = { userId: user.id, version: 1, fromSessionId: session.id, passwordHash: '$h', session: anew }
      const [linking, changed] = await Promise.all([
        store.identities.link({ identity: anIdentity(user.id), by: { sessionId: session.id } }, linked()),
        store.users.changePassword(change, stepOf('password_changed')()),
      ])
      expect(changed).not.toBeNull()
      expect((await store.users.findById(user.id))?.identities).toHaveLength(linking === null ? 0 : 1)
    }
  })
}
