import { expect, test } from 'vitest'
import type { TestClient } from '../../../src/testing.js'
import { api, hostWorld, password } from '../../support/host-world.js'
import { enrol } from '../../support/totp.js'

const twoFactorWorld = () => hostWorld({ settings: { admin: { twoFactor: true } } })

/** Each row of users, teams and admin tokens, with a body that its schema takes, and whether it needs a recent sign-in. */
const rows = [
  ['GET', '/project/users', undefined, false],
  ['POST', '/project/users', { email: 'x@example.test', right: 'MEMBER' }, true],
  ['PATCH', '/project/users/unknown', { right: 'MEMBER' }, true],
  ['DELETE', '/project/users/unknown', { confirm: 'x@example.test' }, true],
  ['GET', '/teams', undefined, false],
  ['POST', '/teams', { name: 'ops', right: 'MEMBER' }, true],
  ['PATCH', '/teams/unknown', { right: 'MEMBER' }, true],
  ['DELETE', '/teams/unknown', { confirm: 'ops' }, true],
  ['POST', '/teams/unknown/members', { email: 'x@example.test' }, true],
  ['DELETE', '/teams/unknown/members/unknown', undefined, true],
  ['GET', '/admintokens', undefined, false],
  ['POST', '/admintokens', { owner: 'personal' }, true],
  ['DELETE', '/admintokens', { confirm: 'all' }, true],
  ['DELETE', '/admintokens/unknown', undefined, false],
] as const

async function callers() {
  const world = await twoFactorWorld()
  const { clock } = world.runtime
  const stale = await world.signedIn('ann@example.test', 'ADMIN')
  const staleFactor = await enrol(stale.client, password, clock)
  await clock.advance('11m')
  await stale.client.refresh()
  const admin = world.client()
  const first = await admin.post<{ challenge: string }>('/auth/login', { email: stale.email, password })
  await admin.post('/auth/login/two-factor', { challenge: first.body.challenge, code: await staleFactor.nextCode() })
  const member = await world.signedIn('bob@example.test', 'MEMBER')
  await enrol(member.client, password, clock)
  const outsider = await world.signedIn('eve@example.test')
  await enrol(outsider.client, password, clock)
  const noFactor = await world.signedIn('joe@example.test', 'ADMIN')
  const { body } = await admin.post<{ token: string }>(`${api}/spaces/dev/tokens`, { name: 'space' })
  const server = (headers: Record<string, string>) => world.client({ as: 'server', headers })
  return {
    'no credential': [server({}), 'unauthenticated'],
    'API token of a space': [server({ 'x-apikey': body.token }), 'unauthenticated'],
    'admin token as bearer': [
      server({ authorization: `Bearer ${'0'.repeat(16)}-${'0'.repeat(32)}` }),
      'unauthenticated',
    ],
    outsider: [outsider.client, 'forbidden'],
    MEMBER: [member.client, 'forbidden'],
    'ADMIN without second factor': [noFactor.client, 'two_factor_enrolment_required'],
    'ADMIN, not recent': [stale.client, 'recent_login_required'],
    ADMIN: [admin, null],
  } satisfies Record<string, [TestClient, string | null]>
}

test('each row of users, teams and admin tokens answers a recent ADMIN with a second factor alone', async () => {
  for (const [name, [client, refusal]] of Object.entries(await callers())) {
    for (const [method, path, body, recent] of rows) {
      const answer = await send(client, method, `${api}${path}`, body)
      const code = answer.status < 300 || answer.status === 404 ? null : answer.body.code
      const expected = refusal === 'recent_login_required' && !recent ? null : refusal
      expect([name, method, path, code]).toEqual([name, method, path, expected])
    }
  }
})

function send(client: TestClient, method: (typeof rows)[number][0], path: string, body: object | undefined) {
  if (method === 'GET') return client.get<{ code?: string }>(path)
  if (method === 'POST') return client.post<{ code?: string }>(path, body)
  return method === 'PATCH' ? client.patch<{ code?: string }>(path, body) : client.delete<{ code?: string }>(path, body)
}

test('the reference of the control API describes each row', async () => {
  const world = await hostWorld()
  const { client } = await world.signedIn('ann@example.test', 'ADMIN')
  const { body } = await client.get<{ paths: Record<string, object> }>(`${api}/openapi.json`)
  const described = Object.entries(body.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replace(/\{\w+\}/g, 'unknown')}`),
  )
  const wanted: readonly string[] = rows.map(([method, path]) => `${method} /admin/api${path}`)
  expect(described.filter((row) => wanted.includes(row)).sort()).toEqual([...wanted].sort())
})
