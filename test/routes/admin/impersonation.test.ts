import { describe, expect, test, vi } from 'vitest'
import { pageRoutes } from '../../../src/routes/page-routes.js'
import type { SignedIn } from '../../../src/testing.js'
import { administered, administrator } from '../../support/administrators.js'
import { ada } from '../../support/auth.js'
import {
  begun,
  type Impersonating,
  impersonable,
  impersonatePath,
  impersonating,
  impersonation,
  reason,
} from '../../support/impersonation.js'

const subject = /administrator used your account/

/** The mails about impersonations that the user got, after every timer of that time. */
async function noticesAfter({ runtime, mailbox }: Impersonating, wait: `${number}m` | `${number}s`) {
  await runtime.clock.advance(wait)
  return mailbox.mails.filter((mail) => mail.to === ada.email && subject.test(mail.subject))
}

/** Timers begin work that takes longer than their turn, so the clock goes on until exactly one mail is there: this one. */
async function oneNoticeAfter(world: Impersonating, wait: `${number}m` | `${number}s`) {
  await world.runtime.clock.advance(wait)
  await vi.waitFor(async () => expect(await noticesAfter(world, '10s')).toHaveLength(1))
  const [mail] = await noticesAfter(world, '10s')
  return mail
}

/** Housekeeping finds an ended impersonation within a quarter of an hour. */
async function recordedWithin({ runtime, auth }: Impersonating, wait: `${number}m`) {
  await runtime.clock.advance(wait)
  const ends = () => auth.audit.list({ event: 'impersonation_stopped' })
  await vi.waitFor(async () => expect((await ends()).items).toHaveLength(1))
  return (await ends()).items
}

/** A token of the session comes once more, long after two others replaced it. */
async function thirdUse(acting: Impersonating['acting'], { clock }: Impersonating['runtime']): Promise<void> {
  const thief = acting.copy()
  for (const wait of ['1m', '4m', '4m'] as const) {
    await acting.refresh()
    await clock.advance(wait)
  }
  expect((await thief.refresh()).body).toMatchObject({ code: 'token_revoked' })
}

describe('the mail about an impersonation', () => {
  test('names the administrator and the time, once, when it is stopped', async () => {
    const prepared = await impersonable()
    await prepared.auth.users.update(prepared.adminId, { name: 'Grace Hopper' })
    await prepared.admin.refresh()
    const world = await begun(prepared)
    expect(await noticesAfter(world, '5m')).toEqual([])
    await world.acting.refresh()
    await world.acting.post('/auth/impersonation/stop')
    const mail = await oneNoticeAfter(world, '2m')
    expect(mail?.text).toContain('Grace Hopper, an administrator of')
    expect(mail?.text).toContain('Duration: 5 min')
    expect(mail?.text).toContain('January 1, 2026')
    await oneNoticeAfter(world, '40m')
  })

  test.each<[string, string, (world: Impersonating) => Promise<unknown>]>([
    ['is abandoned', 'expired', async () => {}],
    [
      'ends with the session of the administrator',
      'administrator',
      async (world) => {
        await world.auth.sessions.revokeAll(world.adminId)
        await recordedWithin(world, '16m')
      },
    ],
    ['is ended by the user', 'revoked', async ({ user }) => user.delete('/auth/sessions')],
    [
      'ends with a new password of the user',
      'revoked',
      async ({ auth, userId }) => auth.users.setPassword(userId, 'brass gears 1843'),
    ],
    [
      'ends with a password that the user changes',
      'revoked',
      async ({ user }) =>
        user.post('/auth/password/change', { currentPassword: ada.password, newPassword: 'brass gears 1843' }),
    ],
    ['ends as a theft', 'revoked', async ({ acting, runtime }) => thirdUse(acting, runtime)],
    ['ends with the account', 'revoked', async ({ auth, userId }) => auth.users.delete(userId)],
    ['ends with the disabled account', 'revoked', async ({ auth, userId }) => auth.users.disable(userId)],
  ])('is sent once when the impersonation %s', async (_, why, end) => {
    const world = await impersonating()
    await end(world)
    await oneNoticeAfter(world, '60m')
    const { items } = await world.auth.audit.list({ event: 'impersonation_stopped' })
    expect(items).toMatchObject([{ userId: world.userId, detail: { reason: why } }])
    expect(items).toHaveLength(1)
  })

  test('is due at once, and the event is there, when the user resets their password', async () => {
    const world = await impersonating()
    await world.user.post('/auth/password/forgot', { email: ada.email })
    const token = world.mailbox.token(await world.mailbox.waitFor(ada.email, /password/i))
    await world.runtime.clock.advance('3m')
    await world.user.post('/auth/password/reset', { token, password: 'brass gears 1843' })
    const { items } = await world.auth.audit.list({ event: 'impersonation_stopped' })
    expect(items).toMatchObject([{ actor: null, userId: world.userId, detail: { reason: 'revoked', seconds: 180 } }])
    const mail = await oneNoticeAfter(world, '10s')
    expect(mail?.text).toContain('Duration: 3 min')
    // The browser of the administrator is free again.
    expect((await world.acting.refresh()).status).toBe(401)
    expect((await world.acting.signIn(administrator)).status).not.toBe(403)
    await oneNoticeAfter(world, '60m')
  })

  test('is not sent where notify is false', async () => {
    const admin = { emails: [administrator.email], twoFactor: true, impersonation: { ...impersonation, notify: false } }
    const world = await impersonating({ admin })
    await world.acting.post('/auth/impersonation/stop')
    expect(await noticesAfter(world, '60m')).toEqual([])
  })
})

describe('housekeeping', () => {
  test.each<[string, `${number}m`, (world: Impersonating) => Promise<unknown>]>([
    ['expired', '46m', async () => {}],
    ['administrator', '16m', async ({ auth, adminId }) => auth.sessions.revokeAll(adminId)],
  ])('records the end of an impersonation: %s', async (why, wait, end) => {
    const world = await impersonating()
    await end(world)
    expect(await recordedWithin(world, wait)).toMatchObject([
      { actor: { kind: 'system' }, userId: world.userId, detail: { reason: why } },
    ])
    expect((await world.auth.sessions.list(world.userId)).items).toHaveLength(1)
  })
})

describe('the banner', () => {
  test('stands on every page while an administrator acts, and stops it by a form', async () => {
    const world = await impersonating()
    const pages = pageRoutes.filter(({ enabled }) => enabled === undefined).map(({ path }) => `/auth${path}`)
    const shown: string[] = []
    for (const path of [...pages, '/auth/login?again=1', '/auth/nothing', '/auth/admin']) {
      const page = await world.acting.open(path)
      // A page for signed-out visitors leads a signed-in one to the application.
      if (page.url.pathname === '/') continue
      shown.push(page.url.pathname)
      expect(page.text, path).toContain('You are acting as ada@example.test.')
      expect(page.text, path).toContain('action="/auth/impersonation/stop"')
    }
    expect(shown).toEqual(expect.arrayContaining(['/auth/account', '/auth/reset', '/auth/verify-email', '/auth/admin']))
    expect((await world.user.open('/auth/account')).text).not.toContain('You are acting as')
    const after = await world.acting.submit('/auth/impersonation/stop', {})
    expect(after.url.pathname).toBe('/auth/login')
    expect(after.text).not.toContain('You are acting as')
  })

  test('has a script of at most 1.5 kB under a stable name, in the language of the settings', async () => {
    const world = await impersonable({ locale: 'de' })
    const script = await world.user.get('/auth/assets/impersonation.js')
    expect(script.status).toBe(200)
    expect(script.headers.get('content-type')).toContain('text/javascript')
    expect(script.headers.get('cache-control')).toBe('public, max-age=300')
    expect(script.text.length).toBeLessThanOrEqual(1_500)
    expect(script.text).toContain('Sie handeln als')
  })
})

test('the access token of an impersonated session has fewer than 600 characters', async () => {
  const world = await impersonating()
  expect(world.acting.cookies.get('access-token')?.length).toBeLessThan(600)
})

test('a form begins it as well, and leads to the application', async () => {
  const world = await impersonable()
  const answer = await world.admin.submit(impersonatePath(world.userId), { reason })
  expect(answer.url.pathname).toBe('/')
  expect((await world.admin.get<SignedIn>('/auth/me')).body.session.actor).toMatchObject({ userId: world.adminId })
})

test('an administrator impersonates 20 times a day', async () => {
  const world = await administered({
    admin: { emails: [administrator.email], twoFactor: true, impersonation },
    limits: undefined,
  })
  const { id } = await world.auth.users.create({ email: ada.email, emailVerified: true })
  const statuses: number[] = []
  for (let round = 0; round < 21; round += 1) {
    await world.runtime.clock.advance('20m')
    const browser = await world.signInAsAdmin()
    statuses.push((await browser.post(impersonatePath(id), { reason })).status)
  }
  expect(statuses).toEqual([...Array.from({ length: 20 }, () => 200), 429])
})
