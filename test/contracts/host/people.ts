import { afterEach, beforeEach, expect, test } from 'vitest'
import type { AdminTokenRecord, PeopleNouns } from '../../../src/host/store/people.js'
import { peopleExtension } from '../../../src/host/store/sql/host-extension.js'
import type { Change } from '../../../src/model/change.js'
import type { UserRecord } from '../../../src/model/user.js'
import { openExtended, type SqlStoreOptions } from '../../../src/store/sql/store.js'
import type { Store } from '../../../src/store/store.js'
import { storeOptions } from '../../support/databases.js'
import { lossOfAdmin, usableAmong } from '../store/last-admin.js'
import { anEvent, aUser, now } from '../store/rows.js'

const until = now + 180
const step = () => ({ until, audit: anEvent() })

/** What every database promises of rights, teams and admin tokens. */
export function peopleContract(open: () => Promise<SqlStoreOptions['database']>): void {
  let store: Store
  let people: PeopleNouns
  let changes: Change[]

  beforeEach(async () => {
    changes = []
    const options = {
      ...storeOptions(),
      database: await open(),
      onChange: (change: Change) => void changes.push(change),
    }
    const opened = await openExtended(options, { ...peopleExtension, migrationsTable: 'latchkey_host_migrations' })
    store = opened.store
    people = opened.nouns
  })
  afterEach(() => store.close())

  async function account(right?: 'ADMIN' | 'MEMBER'): Promise<string> {
    const user = aUser({ emailVerified: true, verifiedBy: 'mailbox' })
    await store.users.create(user, anEvent())
    if (right) await people.projectRights.grant(user.id, right, step())
    return user.id
  }

  async function found(id: string): Promise<UserRecord> {
    const user = await store.users.findById(id)
    if (!user) throw new TypeError('There is no such user.')
    return user
  }

  /** Deletes the administrators of the rounds before. */
  async function retireOthers(kept: readonly string[]): Promise<void> {
    for (const { id } of await people.projectRights.list()) {
      if (!kept.includes(id)) expect(await store.users.delete(id, until, anEvent())).toBe(true)
    }
  }

  async function team(right: 'ADMIN' | 'MEMBER', ...members: string[]): Promise<string> {
    const id = `team-${members.join('-') || 'empty'}`.slice(0, 60)
    await people.teams.create({ id, name: id, right, createdAt: now }, step())
    for (const member of members) await people.teams.addMember(id, member, now, step())
    return id
  }

  test('a new project has no users and no teams', async () => {
    expect(await people.projectRights.list()).toEqual([])
    expect(await people.projectRights.counted()).toEqual({ users: [], teams: [] })
  })

  test('ATK-125 of 20 steps at once that take rights away in different ways, one administrator keeps theirs', async () => {
    const admins = await Promise.all(Array.from({ length: 4 }, () => account('ADMIN')))
    const member = await account()
    const owners = await team('ADMIN', member)
    const { projectRights, teams } = people
    const disabling = { at: now, until: null, reason: null }
    const ways = [
      ...admins.flatMap((id) => [
        () => projectRights.change(id, 'MEMBER', step()),
        () => projectRights.remove(id, step()),
        () => store.users.disable(id, disabling, step()),
        () => store.users.delete(id, 0, step().audit),
      ]),
      () => teams.change(owners, { right: 'MEMBER' }, step()),
      () => teams.removeMember(owners, member, step()),
      () => teams.remove(owners, step()),
      () => store.users.disable(member, disabling, step()),
    ]
    expect(ways).toHaveLength(20)
    const answers = await Promise.all(ways.map((way) => way()))
    expect(answers).toContain('last_admin')
    const left = (await projectRights.list()).filter(
      ({ right, teams: of }) => right === 'ADMIN' || of.some((each) => each.right === 'ADMIN'),
    )
    const found = await Promise.all(left.map(({ id }) => store.users.findById(id)))
    expect(found.filter((user) => user?.disabledAt === null)).toHaveLength(1)
  })

  test('ATK-239 of two administrators who become unusable at once, by each of the steps, one stays', async () => {
    const { projectRights, teams } = people
    const byRight: Record<string, (user: UserRecord) => Promise<unknown>> = {
      ...Object.fromEntries(
        Object.entries(lossOfAdmin).map(([way, lose]) => [way, (user: UserRecord) => lose(store, user)]),
      ),
      'is demoted': ({ id }) => projectRights.change(id, 'MEMBER', step()),
      'is removed': ({ id }) => projectRights.remove(id, step()),
    }
    const ways: Record<string, (user: UserRecord, teamId: string) => Promise<unknown>> = {
      ...byRight,
      'leaves the team': ({ id }, teamId) => teams.removeMember(teamId, id, step()),
      'has a team that is demoted': (_, teamId) => teams.change(teamId, { right: 'MEMBER' }, step()),
      'has a team that is removed': (_, teamId) => teams.remove(teamId, step()),
    }
    for (const [first, loseFirst] of Object.entries(byRight)) {
      for (const [second, loseSecond] of Object.entries(ways)) {
        // Each step beside itself, and beside a demanded reset.
        if (first !== second && first !== 'must reset') continue
        const isByTeam = !(second in byRight)
        const [one, other] = [await account('ADMIN'), await account(isByTeam ? undefined : 'ADMIN')]
        const owners = isByTeam ? await team('ADMIN', other) : ''
        await retireOthers([one, other])
        const [own, member] = [await found(one), await found(other)]
        const answers = await Promise.all([loseFirst(own), loseSecond(member, owners)])
        const left = (await projectRights.list()).filter(
          ({ right, teams: of }) => right === 'ADMIN' || of.some((each) => each.right === 'ADMIN'),
        )
        const refused = answers.filter((answer) => answer === 'last_admin')
        expect([first, second, (await usableAmong(store, left)).length, refused.length]).toEqual([first, second, 1, 1])
      }
    }
  })

  test('a right is granted once, changed and taken away, each with a change row', async () => {
    const [ann, bob] = [await account('ADMIN'), await account()]
    changes = []
    const { projectRights } = people
    expect(await projectRights.grant(bob, 'MEMBER', step())).toBe('granted')
    expect(await projectRights.grant(bob, 'MEMBER', step())).toBe('same')
    expect(await projectRights.grant(bob, 'ADMIN', step())).toBe('other')
    expect(await projectRights.grant('unknown', 'ADMIN', step())).toBe(null)
    expect(await projectRights.change(bob, 'ADMIN', step())).toBe('changed')
    expect(await projectRights.change(bob, 'ADMIN', step())).toBe('same')
    expect(await projectRights.change('unknown', 'ADMIN', step())).toBe(null)
    expect(await projectRights.remove(bob, step())).toBe('removed')
    expect(await projectRights.remove(bob, step())).toBe(null)
    expect(changes.map(({ kind, subject }) => [kind, subject])).toEqual([
      ['right', bob],
      ['right', bob],
      ['right', bob],
    ])
    expect((await projectRights.list()).map(({ id }) => id)).toEqual([ann])
  })

  test('rights of unproved accounts do not count', async () => {
    const unproved = aUser({ emailVerified: false, verifiedBy: null })
    const trusted = aUser({ emailVerified: true, verifiedBy: 'trusted_provider' })
    for (const user of [unproved, trusted]) {
      await store.users.create(user, anEvent())
      await people.projectRights.grant(user.id, 'ADMIN', step())
      expect(await people.projectRights.find(user.id)).toMatchObject({ right: 'ADMIN', proved: false })
    }
    expect((await people.projectRights.counted()).users).toEqual([])
  })

  test('ATK-125 of two administrators, concurrent steps take one away, not both, in each of ten rounds', async () => {
    const [ann, bob] = [await account('ADMIN'), await account()]
    const ops = await team('ADMIN', bob)
    const { projectRights, teams } = people
    const disabling = { at: now, until: null, reason: null }
    for (let round = 0; round < 10; round += 1) {
      const answers = await Promise.all([
        projectRights.change(ann, 'MEMBER', step()),
        round % 2 ? teams.removeMember(ops, bob, step()) : store.users.disable(bob, disabling, step()),
      ])
      expect(answers.filter((answer) => answer === 'last_admin')).toHaveLength(1)
      await projectRights.change(ann, 'ADMIN', step())
      await store.users.enable(bob, now, step())
      await teams.addMember(ops, bob, now, step())
    }
  })

  test('a deleted account takes right, memberships and personal tokens along, and leaves team tokens', async () => {
    const [ann, bob] = [await account('ADMIN'), await account('ADMIN')]
    const ops = await team('ADMIN', ann, bob)
    expect(await people.projectTokens.create(aToken('1', { kind: 'personal', userId: bob }, bob), anEvent())).toBe(true)
    expect(await people.projectTokens.create(aToken('2', { kind: 'team', teamId: ops }, bob), anEvent())).toBe(true)
    expect(await store.users.delete(bob, until, anEvent())).toBe(true)
    expect(await people.projectTokens.list()).toMatchObject([{ id: '2'.repeat(16), madeBy: bob, makerEmail: null }])
    expect(await people.teams.find(ops)).toMatchObject({ members: [{ id: ann }] })
    expect(await store.users.delete(ann, until, anEvent())).toBe('last_admin')
  })

  test('a token of a team is made by members alone, and goes with the team, with a change row', async () => {
    const [ann, eve] = [await account('ADMIN'), await account()]
    const ops = await team('ADMIN', ann)
    const owner = { kind: 'team', teamId: ops } as const
    expect(await people.projectTokens.create(aToken('1', owner, eve), anEvent())).toBe(false)
    expect(await people.projectTokens.create(aToken('2', owner, ann), anEvent())).toBe(true)
    expect(await people.projectTokens.listOfTeams({ by: ann, teamId: ops })).toMatchObject([{ ownerName: ops }])
    changes = []
    expect(await people.teams.remove(ops, step())).toBe('removed')
    expect(changes.map(({ kind, subject }) => [kind, subject])).toEqual([
      ['right', ops],
      ['admin_token', '2'.repeat(16)],
    ])
    expect(await people.projectTokens.find('2'.repeat(16))).toBe(null)
  })

  test('a token is read as it was written, with its last use', async () => {
    const ann = await account('ADMIN')
    const token: AdminTokenRecord = {
      ...aToken('1', { kind: 'personal', userId: ann }, ann),
      spaces: ['a', 'b'],
      commands: ['deploy'],
      cidrs: ['192.0.2.0/24'],
      expiresAt: now + 60,
    }
    await people.projectTokens.create(token, anEvent())
    expect(await people.projectTokens.find(token.id)).toEqual(token)
    await people.projectTokens.touch([
      { id: token.id, day: now, network: '192.0.2.0/24' },
      { id: 'gone', day: now, network: null },
    ])
    expect((await people.projectTokens.find(token.id))?.lastUse).toEqual({ day: now, network: '192.0.2.0/24' })
    const removals = await Promise.all([1, 2, 3].map(() => people.projectTokens.remove(token.id, step())))
    expect(removals.filter((removed) => removed)).toHaveLength(1)
  })
}

function aToken(digit: string, owner: AdminTokenRecord['owner'], madeBy: string): AdminTokenRecord {
  return {
    id: digit.repeat(16),
    tokenHash: `key.${digit}`,
    name: 'ci',
    owner,
    madeBy,
    spaces: null,
    commands: null,
    cidrs: [],
    createdAt: now,
    expiresAt: null,
    lastUse: null,
  }
}
