import { expect, test } from 'vitest'
import type { TestAnswer } from '../../../src/testing.js'
import { api, hostWorld, password } from '../../support/host-world.js'

async function twoAdmins() {
  const world = await hostWorld()
  const ann = await world.signedIn('ann@example.test', 'ADMIN')
  const bob = await world.signedIn('bob@example.test', 'ADMIN')
  return { world, ann, bob }
}

/** An administrator by a team alone. */
async function withTeam(world: Awaited<ReturnType<typeof hostWorld>>, email: string) {
  const ann = await world.signedIn('ann@example.test', 'ADMIN')
  const member = await world.signedIn(email)
  const team = await ann.client.post<{ id: string }>(`${api}/teams`, { name: 'owners', right: 'ADMIN' })
  await ann.client.post(`${api}/teams/${team.body.id}/members`, { email })
  return { ann, member, teamId: team.body.id }
}

function outcomes(answers: readonly TestAnswer<unknown>[]): string[] {
  return answers
    .map(({ status, body }) => (status < 300 ? 'done' : codeOf(body)))
    .sort((one, other) => one.localeCompare(other))
}

function codeOf(body: unknown): string {
  return typeof body === 'object' && body !== null && 'code' in body ? String(body.code) : 'no code'
}

test('the last administrator cannot demote, remove, disable or delete themselves', async () => {
  const world = await hostWorld()
  const { client: admin, id, email } = await world.signedIn('ann@example.test', 'ADMIN')
  await world.signedIn('bob@example.test', 'MEMBER')
  for (const refused of [
    await admin.patch(`${api}/project/users/${id}`, { right: 'MEMBER' }),
    await admin.delete(`${api}/project/users/${id}`, { confirm: email }),
    await admin.delete('/auth/me', { password }),
  ]) {
    expect([refused.status, codeOf(refused.body)]).toEqual([409, 'last_admin'])
  }
  expect((await admin.get(api)).body).toMatchObject({ user: { right: 'ADMIN' } })
})

test('a second administrator counts only while the account is usable', async () => {
  const { world, ann, bob } = await twoAdmins()
  expect((await ann.client.post(`${api}/users/${bob.id}/disable`, { reason: 'left' })).status).toBe(200)
  const demote = () => ann.client.patch(`${api}/project/users/${ann.id}`, { right: 'MEMBER' })
  expect((await demote()).body).toMatchObject({ code: 'last_admin' })
  await ann.client.post(`${api}/users/${bob.id}/enable`)
  await ann.client.post(`${api}/users/${bob.id}/reset-password`)
  expect((await demote()).body).toMatchObject({ code: 'last_admin' })
  // An invited administrator has proved nothing yet.
  await ann.client.post(`${api}/project/users`, { email: 'new@example.test', right: 'ADMIN' })
  expect((await demote()).body).toMatchObject({ code: 'last_admin' })
  const eve = await world.signedIn('eve@example.test', 'ADMIN')
  expect((await demote()).status).toBe(200)
  expect((await eve.client.get(api)).body).toMatchObject({ user: { right: 'ADMIN' } })
})

test('ATK-125 of two administrators who demote each other at once, exactly one remains', async () => {
  const { ann, bob } = await twoAdmins()
  const answers = await Promise.all([
    ann.client.patch(`${api}/project/users/${bob.id}`, { right: 'MEMBER' }),
    bob.client.patch(`${api}/project/users/${ann.id}`, { right: 'MEMBER' }),
  ])
  expect(outcomes(answers)).toHaveLength(2)
  expect(outcomes(answers)).toContain('done')
  expect(outcomes(answers).filter((outcome) => outcome === 'done')).toHaveLength(1)
})

test('ATK-239 of two administrators who demand a reset of each other at once, or disable, exactly one remains', async () => {
  const steps = [
    ['reset-password', {}],
    ['disable', { reason: 'left' }],
  ] as const
  for (const [first, firstBody] of steps) {
    for (const [second, secondBody] of steps) {
      const { world, ann, bob } = await twoAdmins()
      const answers = await Promise.all([
        ann.client.post(`${api}/users/${bob.id}/${first}`, firstBody),
        bob.client.post(`${api}/users/${ann.id}/${second}`, secondBody),
      ])
      expect(outcomes(answers).filter((outcome) => outcome === 'done')).toHaveLength(1)
      const found = await Promise.all([ann, bob].map(({ id }) => world.running.store.users.findById(id)))
      expect(found.filter((user) => user?.disabledAt === null && !user.mustReset)).toHaveLength(1)
      const client = answers[0].status < 300 ? ann.client : bob.client
      expect((await client.get(api)).body).toMatchObject({ user: { right: 'ADMIN' } })
    }
  }
})

test('ATK-239 the last administrator changes the address only where the new one is proved', async () => {
  const world = await hostWorld()
  const { client, id, email } = await world.signedIn('ann@example.test', 'ADMIN')
  await client.post('/auth/email/change', { newEmail: 'ann@new.test', password })
  const token = world.mailbox.token(await world.mailbox.waitFor('ann@new.test'))
  const elsewhere = await world.client().post('/auth/email/confirm', { token })
  expect(elsewhere).toMatchObject({ status: 409, body: { code: 'last_admin' } })
  expect(await world.running.store.users.findById(id)).toMatchObject({ email, verifiedBy: 'mailbox' })
  expect((await client.post('/auth/email/confirm', { token })).status).toBe(200)
  expect((await client.get(api)).body).toMatchObject({ user: { email: 'ann@new.test', right: 'ADMIN' } })
})

test('ATK-125 of 20 steps at once that each remove an administrator in another way, one administrator remains', async () => {
  const world = await hostWorld()
  const { ann, member, teamId } = await withTeam(world, 'bob@example.test')
  const { projectRights, teams } = world.running.nouns
  const { users } = world.running.store
  const { ports } = world.running
  const step = (userId: string) => {
    const audit = {
      id: ports.random.id(),
      atMs: ports.clock.nowMs(),
      event: 'right_changed',
      outcome: 'success',
      actor: null,
      sessionId: null,
      ip: null,
      userAgent: null,
      detail: {},
      userId,
    } as const
    return { until: ports.clock.now() + 180, audit }
  }
  const disabling = { at: ports.clock.now(), until: null, reason: null }
  const ways = [
    () => projectRights.change(ann.id, 'MEMBER', step(ann.id)),
    () => projectRights.remove(ann.id, step(ann.id)),
    () => users.disable(ann.id, disabling, step(ann.id)),
    () => users.delete(ann.id, 0, step(ann.id).audit),
    () => teams.removeMember(teamId, member.id, step(member.id)),
    () => teams.change(teamId, { right: 'MEMBER' }, step(member.id)),
    () => teams.remove(teamId, step(member.id)),
    () => users.disable(member.id, disabling, step(member.id)),
    () => users.delete(member.id, 0, step(member.id).audit),
    () => projectRights.remove(member.id, step(member.id)),
  ]
  const answers = await Promise.all([...ways, ...ways].map((way) => way()))
  expect(answers).toContain('last_admin')
  const left = (await projectRights.list()).filter(
    ({ right, teams: of }) => right === 'ADMIN' || of.some((team) => team.right === 'ADMIN'),
  )
  const usable = await Promise.all(left.map(async ({ id }) => (await users.findById(id))?.disabledAt === null))
  expect(usable.filter((each) => each)).toHaveLength(1)
})

test('the last administrator by a team keeps team, membership and the right of the team', async () => {
  const world = await hostWorld()
  const { ann, member, teamId } = await withTeam(world, 'bob@example.test')
  expect((await ann.client.patch(`${api}/project/users/${ann.id}`, { right: 'MEMBER' })).status).toBe(200)
  for (const refused of [
    await member.client.patch(`${api}/teams/${teamId}`, { right: 'MEMBER' }),
    await member.client.delete(`${api}/teams/${teamId}`, { confirm: 'owners' }),
    await member.client.delete(`${api}/teams/${teamId}/members/${member.id}`),
    await member.client.delete(`${api}/project/users/${member.id}`, { confirm: member.email }),
    await member.client.delete('/auth/me', { password }),
  ]) {
    expect([refused.status, codeOf(refused.body)]).toEqual([409, 'last_admin'])
  }
  expect((await member.client.patch(`${api}/teams/${teamId}`, { name: 'keepers' })).status).toBe(200)
  expect((await member.client.get(api)).body).toMatchObject({ user: { right: 'ADMIN' } })
})
