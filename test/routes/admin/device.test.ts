import { describe, expect, test } from 'vitest'
import type { SignedIn, TestClient } from '../../../src/testing.js'
import { administered, administrator } from '../../support/administrators.js'
import { askedTool } from '../../support/asked-device.js'
import { ada } from '../../support/auth.js'

const api = '/auth/admin/api'

/** An administrator, and a tool on a machine at that address that waits for approval. */
async function waiting({ ip = '127.0.0.1', limits = false as const } = {}) {
  const world = await administered({ limits })
  const server = world.client({ as: 'server', ip })
  const tool = await askedTool(server)
  return {
    ...world,
    server,
    tool,
    lookUp: (client: TestClient = world.admin) => client.post(`${api}/device/lookup`, { userCode: tool.userCode }),
    answer: (approve: boolean, client: TestClient = world.admin, more = {}) =>
      client.post(`${api}/device/answer`, { userCode: tool.userCode, approve, ...more }),
  }
}

const outcome = ({ status, body }: { status: number; body: unknown }) => {
  const code = typeof body === 'object' && body !== null && 'code' in body ? body.code : undefined
  return code === undefined ? status : `${status} ${code}`
}

describe('a tool without a browser', () => {
  test('gets one session of the administrator who approved it', async () => {
    const { tool, lookUp, answer, admin, adminId, auth, client, runtime, mailbox } = await waiting()
    // The notice of the browser's own sign-in.
    await mailbox.waitFor(administrator.email, /new device/i)
    expect(tool.url).toBe('http://localhost:3000/auth/admin/device')
    expect(tool.userCode).toMatch(/^[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$/)
    expect((await lookUp()).body).toMatchObject({ client: 'ann-laptop', ip: '127.0.0.1', sameNetwork: true })
    expect((await tool.poll()).body).toEqual({ status: 'pending' })
    expect((await answer(true)).status).toBe(204)

    await runtime.clock.advance('5s')
    const signedIn = await tool.poll()
    expect(signedIn.body).toMatchObject({ user: { id: adminId }, accessToken: expect.any(String) })
    expect(signedIn.cookies).toEqual([])
    expect((await mailbox.waitFor(administrator.email, /new device/i)).text).toContain('Device: latchkey\n')
    const { items } = await auth.sessions.list(adminId)
    expect(items[0]?.device).toBe('latchkey on ann-laptop')

    const { accessToken } = signedIn.body as SignedIn & { accessToken: string }
    const signed = client({ as: 'server', headers: { authorization: `Bearer ${accessToken}` } })
    const { principal } = (await signed.get<{ principal: { amr: string[]; authTime: number } }>('/api/x')).body
    expect(principal.amr).toEqual(expect.arrayContaining(['mfa', 'device']))
    const own = (await admin.get<{ principal: { authTime: number } }>('/api/x')).body.principal
    expect(principal.authTime).toBe(own.authTime)
    expect((await signed.get(`${api}/tokens`)).status).toBe(200)
    await runtime.clock.advance('5s')
    expect(outcome(await tool.poll())).toBe('400 invalid_token')
  })

  test('ATK-137 ATK-199 an approval from another network repeats the host name, and the address carries no code', async () => {
    const { tool, lookUp, answer, runtime } = await waiting({ ip: '198.51.100.4' })
    expect(tool.url).not.toContain(tool.userCode)
    expect((await lookUp()).body).toMatchObject({ sameNetwork: false, ip: '198.51.100.4' })
    expect(outcome(await answer(true))).toBe('400 invalid_request')
    expect(outcome(await answer(true, undefined, { client: 'other-host' }))).toBe('400 invalid_request')
    expect((await answer(true, undefined, { client: 'ANN-laptop' })).status).toBe(204)
    await runtime.clock.advance('5s')
    expect((await tool.poll()).status).toBe(200)
  })

  test('the loopback addresses of one machine are one network', async () => {
    const { lookUp, answer } = await waiting({ ip: '::1' })
    expect((await lookUp()).body).toMatchObject({ sameNetwork: true, ip: '::1' })
    expect((await answer(true)).status).toBe(204)
  })

  test('ATK-138 a handle without its verifier is of no use, and of 20 requests one gets the session', async () => {
    const { tool, answer, server, adminId, auth } = await waiting()
    const other = await askedTool(server)
    await answer(true)
    const stolen = { handle: tool.handle, verifier: other.verifier }
    expect(outcome(await server.post(`${api}/device/token`, stolen))).toBe('400 invalid_token')
    const before = (await auth.sessions.list(adminId)).items.length
    const polls = await Promise.all(Array.from({ length: 20 }, () => tool.poll()))
    expect(polls.filter(({ status }) => status === 200)).toHaveLength(1)
    expect((await auth.sessions.list(adminId)).items).toHaveLength(before + 1)
  })

  test('ATK-139 a code that one session looked up is closed to every other, and dead after ten minutes', async () => {
    const { lookUp, answer, signInAsAdmin, runtime, tool } = await waiting()
    const second = await signInAsAdmin()
    expect((await lookUp()).status).toBe(200)
    expect(outcome(await lookUp(second))).toBe('400 invalid_token')
    expect(outcome(await answer(true, second))).toBe('400 invalid_token')
    await runtime.clock.advance('10m')
    const fresh = await signInAsAdmin()
    expect(outcome(await lookUp(fresh))).toBe('400 invalid_token')
    expect(outcome(await tool.poll())).toBe('400 invalid_token')
  })

  test('ATK-139 of 20 sessions that look a code up at once, one may answer it', async () => {
    const { answer, signInAsAdmin } = await waiting()
    const sessions: TestClient[] = []
    for (let index = 0; index < 4; index += 1) sessions.push(await signInAsAdmin())
    const answers = await Promise.all(sessions.map((session) => answer(true, session)))
    expect(answers.filter(({ status }) => status === 204)).toHaveLength(1)
  })

  test('of many answers at once one counts, and it is the one that the audit log holds', async () => {
    const { answer, lookUp, auth, tool } = await waiting()
    await lookUp()
    const approvals = Array.from({ length: 8 }, (_, index) => index % 2 === 0)
    const answers = await Promise.all(approvals.map((approve) => answer(approve)))
    expect(answers.filter(({ status }) => status === 204)).toHaveLength(1)
    const approved = approvals[answers.findIndex(({ status }) => status === 204)]
    const events = (await auth.audit.list()).items.map(({ event }) => event)
    const answered = events.filter((event) => event === 'device_approved' || event === 'device_denied')
    expect(answered).toEqual([approved ? 'device_approved' : 'device_denied'])
    expect((await tool.poll()).status).toBe(approved ? 200 : 400)
  })

  test('ATK-140 only an administrator with a second factor and a recent sign-in approves', async () => {
    const { answer, client, stale } = await waiting()
    const user = client()
    await user.signUp(ada)
    expect(outcome(await answer(true, user))).toBe('403 forbidden')
    expect(outcome(await answer(true, stale))).toBe('403 recent_login_required')
    expect((await answer(true)).status).toBe(204)
  })

  test('a denied sign-in is over, and so is one whose approver has signed out', async () => {
    const denied = await waiting()
    expect((await denied.answer(false)).status).toBe(204)
    expect(outcome(await denied.tool.poll())).toBe('400 invalid_token')

    const left = await waiting()
    await left.answer(true)
    await left.admin.signOut()
    expect(outcome(await left.tool.poll())).toBe('400 invalid_token')
  })

  test('a browser neither asks nor polls', async () => {
    const { tool, client } = await waiting()
    const browser = client()
    const asked = await browser.post(`${api}/device`, { challenge: 'c'.repeat(43), client: 'ann-laptop' })
    expect([outcome(asked), outcome(await tool.poll(browser))]).toEqual(['403 forbidden', '403 forbidden'])
  })
})

describe('with limits', () => {
  test('ATK-139 five wrong codes close a session for 15 minutes, also to the right code', async () => {
    const world = await administered({ limits: {} })
    const tool = await askedTool(world.client({ as: 'server' }))
    const lookUp = (userCode: string) => world.admin.post(`${api}/device/lookup`, { userCode })
    for (let guess = 0; guess < 5; guess += 1)
      expect(outcome(await lookUp(`AAAA-000${guess}`))).toBe('400 invalid_token')
    expect(outcome(await lookUp(tool.userCode))).toBe('429 rate_limited')
  })

  test('ATK-141 a tool that asks more often than every five seconds waits, and five codes of an address wait', async () => {
    const world = await administered({ limits: {} })
    const server = world.client({ as: 'server', ip: '198.51.100.9' })
    const tool = await askedTool(server)
    expect((await tool.poll()).status).toBe(202)
    const early = await tool.poll()
    expect(outcome(early)).toBe('429 rate_limited')
    expect(early.headers.get('retry-after')).toBe('5')
    await world.runtime.clock.advance('5s')
    expect((await tool.poll()).status).toBe(202)
    for (let more = 0; more < 5; more += 1) await askedTool(server)
    await world.runtime.clock.advance('5s')
    expect(outcome(await tool.poll())).toBe('400 invalid_token')
  })
})
