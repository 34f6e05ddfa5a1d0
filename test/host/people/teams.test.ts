import { expect, test } from 'vitest'
import { api, hostWorld } from '../../support/host-world.js'

interface TeamBody {
  id: string
  members: { id: string }[]
}

async function withTeam(right: 'ADMIN' | 'MEMBER') {
  const world = await hostWorld()
  const admin = await world.signedIn('ann@example.test', 'ADMIN')
  const member = await world.signedIn('bob@example.test')
  const { body: team } = await admin.client.post<TeamBody>(`${api}/teams`, { name: 'ops', right })
  return { world, admin, member, team }
}

test('members inherit the right of their team, and lose it with the membership', async () => {
  const { admin, member, team } = await withTeam('MEMBER')
  const added = await admin.client.post<TeamBody>(`${api}/teams/${team.id}/members`, { email: member.email })
  expect([added.status, added.body.members]).toEqual([201, [{ id: member.id, email: member.email, name: null }]])
  expect((await admin.client.post(`${api}/teams/${team.id}/members`, { email: member.email })).status).toBe(200)
  expect((await member.client.get(api)).body).toMatchObject({ user: { right: 'MEMBER' } })

  expect((await admin.client.patch(`${api}/teams/${team.id}`, { right: 'ADMIN' })).body).toMatchObject({
    right: 'ADMIN',
  })
  expect((await member.client.get(api)).body).toMatchObject({ user: { right: 'ADMIN' } })
  expect((await admin.client.get(`${api}/project/users`)).body).toMatchObject([
    { id: admin.id },
    { id: member.id, right: null, teams: [{ id: team.id, name: 'ops', right: 'ADMIN' }], inForce: 'ADMIN' },
  ])

  expect((await admin.client.delete(`${api}/teams/${team.id}/members/${member.id}`)).status).toBe(204)
  expect((await member.client.get(api)).status).toBe(403)
  expect((await admin.client.delete(`${api}/teams/${team.id}/members/${member.id}`)).status).toBe(404)
})

test('the higher of the own and the team right counts', async () => {
  const { world, admin, member, team } = await withTeam('MEMBER')
  await admin.client.post(`${api}/teams/${team.id}/members`, { email: member.email })
  await world.grant(member.id, 'ADMIN')
  expect((await member.client.get(api)).body).toMatchObject({ user: { right: 'ADMIN' } })
  await admin.client.patch(`${api}/project/users/${member.id}`, { right: 'MEMBER' })
  expect((await member.client.get(api)).body).toMatchObject({ user: { right: 'MEMBER' } })
})

test('a team has a name of its own, and goes when its name is repeated', async () => {
  const { admin, member, team } = await withTeam('ADMIN')
  await admin.client.post(`${api}/teams/${team.id}/members`, { email: member.email })
  expect((await admin.client.post(`${api}/teams`, { name: 'ops', right: 'MEMBER' })).body).toMatchObject({
    code: 'already_exists',
  })
  const { body: other } = await admin.client.post<TeamBody>(`${api}/teams`, { name: 'dev', right: 'MEMBER' })
  expect((await admin.client.patch(`${api}/teams/${other.id}`, { name: 'ops' })).body).toMatchObject({
    code: 'already_exists',
  })
  for (const name of ['', ' ', 'a\nb', 'x'.repeat(101)]) {
    expect((await admin.client.post(`${api}/teams`, { name, right: 'MEMBER' })).status).toBe(400)
  }
  expect((await admin.client.delete(`${api}/teams/${team.id}`, { confirm: 'dev' })).status).toBe(400)
  expect((await admin.client.delete(`${api}/teams/${team.id}`, { confirm: 'ops' })).status).toBe(204)
  expect((await member.client.get(api)).status).toBe(403)
  expect((await admin.client.delete(`${api}/teams/${team.id}`, { confirm: 'ops' })).status).toBe(404)
  expect((await admin.client.get<TeamBody[]>(`${api}/teams`)).body.map(({ id }) => id)).toEqual([other.id])
})

test('a deleted account leaves its right and its teams', async () => {
  const { world, admin, member, team } = await withTeam('MEMBER')
  await admin.client.post(`${api}/teams/${team.id}/members`, { email: member.email })
  await world.grant(member.id, 'MEMBER')
  await admin.client.delete(`${api}/users/${member.id}`, { confirm: member.email })
  expect((await admin.client.get(`${api}/teams`)).body).toMatchObject([{ id: team.id, members: [] }])
  expect((await admin.client.get(`${api}/project/users`)).body).toMatchObject([{ id: admin.id }])
})
