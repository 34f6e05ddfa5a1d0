import { expect, test } from 'vitest'
import { api, hostWorld, password } from '../../support/host-world.js'

interface UserBody {
  id: string
  right: string | null
  inForce: string | null
}

test('an administrator gives, changes and takes away rights, and each is in force when it is answered', async () => {
  const world = await hostWorld()
  const admin = await world.signedIn('ann@example.test', 'ADMIN')
  const user = await world.signedIn('bob@example.test')
  expect((await user.client.get(api)).status).toBe(403)

  const granted = await admin.client.post(`${api}/project/users`, { email: user.email, right: 'MEMBER' })
  expect(granted.status).toBe(201)
  expect(granted.body).toEqual({
    id: user.id,
    email: user.email,
    name: null,
    right: 'MEMBER',
    teams: [],
    inForce: 'MEMBER',
  })
  expect((await user.client.get(api)).body).toMatchObject({ user: { right: 'MEMBER' } })
  expect((await user.client.get(`${api}/project/users`)).status).toBe(403)

  const changed = await admin.client.patch(`${api}/project/users/${user.id}`, { right: 'ADMIN' })
  expect(changed.body).toMatchObject({ right: 'ADMIN', inForce: 'ADMIN' })
  const list = await user.client.get<UserBody[]>(`${api}/project/users`)
  expect(list.body.map(({ id, right }) => [id, right])).toEqual([
    [admin.id, 'ADMIN'],
    [user.id, 'ADMIN'],
  ])

  const removed = await admin.client.delete(`${api}/project/users/${user.id}`, { confirm: user.email })
  expect(removed.status).toBe(204)
  expect((await user.client.get(api)).body).toMatchObject({ code: 'forbidden' })
  const events = await world.running.store.audit.list({ userId: user.id, limit: 20 })
  expect(events.map(({ event, actor }) => [event, actor?.kind]).slice(0, 3)).toEqual([
    ['right_removed', 'user'],
    ['right_changed', 'user'],
    ['right_granted', 'user'],
  ])
})

test('what is set already stays, and another right is changed, not given', async () => {
  const world = await hostWorld()
  const { client: admin } = await world.signedIn('ann@example.test', 'ADMIN')
  const user = await world.signedIn('bob@example.test', 'MEMBER')
  const before = await world.running.store.audit.list({ limit: 200 })
  expect((await admin.post(`${api}/project/users`, { email: user.email, right: 'MEMBER' })).status).toBe(200)
  expect((await admin.patch(`${api}/project/users/${user.id}`, { right: 'MEMBER' })).status).toBe(200)
  expect((await admin.post(`${api}/project/users`, { email: user.email, right: 'ADMIN' })).body).toMatchObject({
    code: 'already_exists',
  })
  expect(await world.running.store.audit.list({ limit: 200 })).toEqual(before)
})

test('unknown users are 404, and a removal needs the address', async () => {
  const world = await hostWorld()
  const { client: admin } = await world.signedIn('ann@example.test', 'ADMIN')
  const user = await world.signedIn('bob@example.test', 'MEMBER')
  const stranger = await world.signedIn('eve@example.test')
  for (const id of [stranger.id, 'unknown', 'x'.repeat(64)]) {
    expect((await admin.patch(`${api}/project/users/${id}`, { right: 'ADMIN' })).status).toBe(404)
    expect((await admin.delete(`${api}/project/users/${id}`, { confirm: 'x' })).status).toBe(404)
  }
  expect((await admin.delete(`${api}/project/users/${user.id}`, { confirm: 'x@example.test' })).status).toBe(400)
  expect((await admin.post(`${api}/project/users`, { email: 'x', right: 'ADMIN' })).status).toBe(400)
  expect((await admin.post(`${api}/project/users`, { email: user.email, right: 'OWNER' })).status).toBe(400)
})

test('changes need a recent sign-in, reading does not', async () => {
  const world = await hostWorld()
  const { client: admin } = await world.signedIn('ann@example.test', 'ADMIN')
  const user = await world.signedIn('bob@example.test', 'MEMBER')
  await world.runtime.clock.advance('11m')
  await admin.refresh()
  expect((await admin.get(`${api}/project/users`)).status).toBe(200)
  for (const refused of [
    await admin.post(`${api}/project/users`, { email: user.email, right: 'MEMBER' }),
    await admin.patch(`${api}/project/users/${user.id}`, { right: 'ADMIN' }),
    await admin.delete(`${api}/project/users/${user.id}`, { confirm: user.email }),
  ]) {
    expect(refused.body).toMatchObject({ code: 'recent_login_required' })
  }
})

test('an address without an account is invited, and its right counts once the mailbox is proved', async () => {
  const world = await hostWorld()
  const { client: admin } = await world.signedIn('ann@example.test', 'ADMIN')
  const granted = await admin.post(`${api}/project/users`, { email: 'new@example.test', right: 'ADMIN' })
  expect(granted.status).toBe(201)
  expect(granted.body).toMatchObject({ right: 'ADMIN', inForce: null })

  const browser = world.client()
  await acceptInvitation(world, browser, 'new@example.test')
  expect((await browser.get(api)).body).toMatchObject({ user: { email: 'new@example.test', right: 'ADMIN' } })
})

test('ATK-190 a right for a planted account counts only after its owner has proved the address, which wipes the planter', async () => {
  const world = await hostWorld({ settings: { registration: { emailVerification: 'optional' } } })
  const { client: admin } = await world.signedIn('ann@example.test', 'ADMIN')
  const planter = world.client()
  const planted = await planter.post<{ user: { id: string } }>('/auth/register', {
    email: 'ceo@example.test',
    password,
  })
  expect(planted.status).toBe(201)

  const team = await admin.post<{ id: string }>(`${api}/teams`, { name: 'owners', right: 'ADMIN' })
  await admin.post(`${api}/teams/${team.body.id}/members`, { email: 'ceo@example.test' })
  const granted = await admin.post(`${api}/project/users`, { email: 'ceo@example.test', right: 'ADMIN' })
  expect(granted.body).toMatchObject({ id: planted.body.user.id, right: 'ADMIN', inForce: null })
  expect((await planter.get(api)).body).toMatchObject({ code: 'forbidden' })

  const owner = world.client()
  await acceptInvitation(world, owner, 'ceo@example.test')
  expect((await owner.get(api)).body).toMatchObject({ user: { right: 'ADMIN' } })
  expect((await planter.get(api)).status).toBe(401)
  expect((await planter.post('/auth/login', { email: 'ceo@example.test', password })).status).toBe(401)
})

/** Opens the invitation that was mailed last and chooses another password. */
async function acceptInvitation(
  world: Awaited<ReturnType<typeof hostWorld>>,
  browser: ReturnType<Awaited<ReturnType<typeof hostWorld>>['client']>,
  email: string,
): Promise<void> {
  const token = world.mailbox.token(await world.mailbox.waitFor(email, /invitation/i))
  const chosen = 'another horse, another battery'
  const reset = await browser.post('/auth/password/reset', { token, password: chosen })
  if (reset.status >= 300) throw new Error(`the invitation was refused: ${reset.text}`)
  const login = await browser.post('/auth/login', { email, password: chosen })
  if (login.status >= 300) throw new Error(`the sign-in was refused: ${login.text}`)
  await world.people.inForce()
}
