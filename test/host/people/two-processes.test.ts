import { expect, test } from 'vitest'
import { createTestMailbox, createTestRuntime } from '../../../src/testing.js'
import { sharedSettings } from '../../support/auth.js'
import { api, hostWorld } from '../../support/host-world.js'

/** Two hosts on one file. What `first` changes reaches `second` by the change feed alone. */
async function twoHosts() {
  const options = {
    runtime: createTestRuntime(),
    mailbox: createTestMailbox(),
    settings: sharedSettings(),
  }
  const first = await hostWorld(options)
  const second = await hostWorld(options)
  const admin = await first.signedIn('ann@example.test', 'ADMIN')
  const user = await first.signedIn('bob@example.test')
  /** At most a second of the shared clock. */
  const within = async (check: () => unknown, expected: unknown) => {
    await options.runtime.clock.advance('1s')
    await expect.poll(check).toEqual(expected)
  }
  const rightAtSecond = (userId: string) => second.people.rights.of({ userId, emailVerified: true, roles: [] })
  return { first, second, admin, user, within, rightAtSecond }
}

test('a right of one process is in force in another within a second', async () => {
  const { admin, user, within, rightAtSecond } = await twoHosts()
  await admin.client.post(`${api}/project/users`, { email: user.email, right: 'MEMBER' })
  await within(() => rightAtSecond(user.id), 'MEMBER')
  await admin.client.patch(`${api}/project/users/${user.id}`, { right: 'ADMIN' })
  await within(() => rightAtSecond(user.id), 'ADMIN')
  await admin.client.post(`${api}/users/${user.id}/disable`, { reason: 'left' })
  await within(() => rightAtSecond(user.id), null)
  await admin.client.post(`${api}/users/${user.id}/enable`)
  await within(() => rightAtSecond(user.id), 'ADMIN')
  await admin.client.delete(`${api}/project/users/${user.id}`, { confirm: user.email })
  await within(() => rightAtSecond(user.id), null)
})

test('a team right reaches the members in another process, and is gone with the team', async () => {
  const { admin, user, within, rightAtSecond } = await twoHosts()
  const { body: team } = await admin.client.post<{ id: string }>(`${api}/teams`, { name: 'ops', right: 'MEMBER' })
  await admin.client.post(`${api}/teams/${team.id}/members`, { email: user.email })
  await within(() => rightAtSecond(user.id), 'MEMBER')
  await admin.client.delete(`${api}/teams/${team.id}`, { confirm: 'ops' })
  await within(() => rightAtSecond(user.id), null)
})

test('ATK-132 a token that another process remembers is refused a second after its removal', async () => {
  const { admin, second, within } = await twoHosts()
  const { body } = await admin.client.post<{ id: string; token: string }>(`${api}/admintokens`, { owner: 'personal' })
  await within(async () => {
    const caller = await second.identify(body.token)
    return typeof caller
  }, 'object')
  await admin.client.delete(`${api}/admintokens/${body.id}`)
  await within(() => second.identify(body.token), 'unauthenticated')
})

test('a process that cannot read the rights refuses, until it can again', async () => {
  const { first, second, user } = await twoHosts()
  const { projectRights } = second.running.nouns
  const counted = projectRights.counted
  projectRights.counted = () => Promise.reject(new Error('down'))
  await first.grant(user.id, 'MEMBER')
  await first.runtime.clock.advance('1s')
  const right = () => second.people.rights.of({ userId: user.id, emailVerified: true, roles: [] })
  await expect.poll(() => codeOf(right)).toBe('store_unavailable')
  projectRights.counted = counted
  await first.runtime.clock.advance('1s')
  await expect.poll(() => codeOf(right)).toBe('MEMBER')
})

function codeOf(call: () => unknown): unknown {
  try {
    return call()
  } catch (error) {
    return error instanceof Error && 'code' in error ? error.code : error
  }
}
