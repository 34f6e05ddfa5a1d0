import { describe, expect, test } from 'vitest'
import { createLimiter } from '../../src/limits/counters.js'
import { limits } from '../../src/settings/limits.js'
import type { TestClient } from '../../src/testing.js'
import { ada, type TestAuth } from '../support/auth.js'
import { openSqliteMemory } from '../support/databases.js'
import { ipOf, leap, limitedAuth } from '../support/limits.js'
import { enrol } from '../support/totp.js'

const newDevice = 'A new device signed in to your account'
const summary = 'Several security notices about your account'
const grace = { email: 'grace@example.test', password: ada.password }
const hour = 3_600

async function twoAccounts(settings: Parameters<typeof limitedAuth>[0] = {}): Promise<TestAuth> {
  const world = await limitedAuth(settings)
  for (const person of [ada, grace]) {
    await world.auth.users.create({ ...person, emailVerified: true })
    // The first sign-in of an account causes no notice.
    await world.client({ ip: ipOf(60_000) }).signIn(person)
  }
  return world
}

/** Sign-ins from as many new browsers; returns once every mail about them was dealt with. */
async function arrive(world: TestAuth, count: number, person = ada): Promise<void> {
  for (let nth = 0; nth < count; nth += 1) await world.client({ ip: ipOf(nth) }).signIn(person)
  await settled(world)
}

async function settled({ auth }: TestAuth): Promise<void> {
  await expect.poll(async () => (await auth.health()).outbox?.waiting, { timeout: 10_000 }).toBe(0)
}

/** How many mails with each of these subjects an address has got. */
function counts({ mailbox }: TestAuth, to: string, ...subjects: string[]): number[] {
  const mails = mailbox.mails.filter((mail) => mail.to === to)
  return subjects.map((subject) => mails.filter((mail) => mail.subject.startsWith(subject)).length)
}

describe('many security notices of one kind', () => {
  test('60 sign-ins from new devices cause three notices and one that sums up, and all are in the audit log', async () => {
    const world = await twoAccounts({ brand: { name: 'Acme' } })
    await arrive(world, 60)
    expect(counts(world, ada.email, newDevice, summary)).toEqual([3, 1])
    expect(counts(world, ada.email, '')).toEqual([4])
    const mail = await world.mailbox.waitFor(ada.email, summary)
    expect(mail.subject).toBe('Several security notices about your account at Acme')
    expect(mail.text).toContain('“A new device signed in to your account at Acme”')
    expect(mail.text).toContain('Until January 1, 2026 at 1:00:00 AM UTC, we send no further mails of this kind.')
    expect(mail.text).toMatch(/Device: .+\nTime: January 1, 2026/)
    expect(mail.text).not.toMatch(/https?:|\d{6}/)
    const { items } = await world.auth.audit.list({ event: 'login', limit: 100 })
    expect(items).toHaveLength(62)
  })

  test('begin anew in the next hour', async () => {
    const world = await twoAccounts()
    await arrive(world, 6)
    await leap(world, hour - 1)
    await arrive(world, 1)
    expect(counts(world, ada.email, newDevice, summary)).toEqual([3, 1])
    await leap(world, 1)
    await arrive(world, 6)
    expect(counts(world, ada.email, newDevice, summary)).toEqual([6, 2])
  })

  test('leave those of other accounts and of other kinds alone', async () => {
    const world = await twoAccounts()
    await arrive(world, 6)
    await arrive(world, 1, grace)
    expect(counts(world, grace.email, newDevice, summary)).toEqual([1, 0])
    await world.client({ ip: ipOf(60_001) }).signIn(ada)
    const browser = world.client({ ip: ipOf(60_002) })
    await browser.signIn(ada)
    const password = 'analytical engine 1843'
    await browser.post('/auth/password/change', { currentPassword: ada.password, newPassword: password })
    await settled(world)
    expect(counts(world, ada.email, 'Your password was changed', summary)).toEqual([1, 1])
  })

  test('cannot hide that two-factor was turned off', async () => {
    const world = await twoAccounts()
    const browser = world.client()
    await browser.signIn(ada)
    const { backupCodes } = await enrol(browser, ada.password, world.runtime.clock)
    await renewCodes(browser, backupCodes.slice(0, 1))
    await settled(world)
    expect(counts(world, ada.email, 'You have new backup codes', summary)).toEqual([3, 1])
    const { id } = (await world.auth.users.findByEmail(ada.email)) ?? { id: '' }
    await world.auth.users.update(id, { twoFactor: false })
    await settled(world)
    expect(counts(world, ada.email, 'Two-factor authentication was turned off', summary)).toEqual([1, 1])
  })

  test('are as many as the setting says', async () => {
    const world = await twoAccounts({ limits: { notice: { account: '1/1m' } } })
    await arrive(world, 4)
    expect(counts(world, ada.email, newDevice, summary)).toEqual([1, 1])
    await leap(world, 60)
    await arrive(world, 1)
    expect(counts(world, ada.email, newDevice, summary)).toEqual([2, 1])
  })
})

/** Five times, each with a code of the set before. */
async function renewCodes(browser: TestClient, [first = '']: string[]): Promise<void> {
  let code = first
  for (let nth = 0; nth < 5; nth += 1) {
    const { status, body } = await browser.post<{ backupCodes: string[] }>('/auth/two-factor/backup-codes', {
      password: ada.password,
      code,
    })
    expect(status).toBe(200)
    code = body.backupCodes[0] ?? ''
  }
}

test('a mail with an undo always goes out, however many there are', async () => {
  const world = await twoAccounts({ limits: { notice: { account: '1/1h' } } })
  const { mailbox } = world
  const moved = 'ada@new.example.test'
  for (let nth = 0; nth < 5; nth += 1) {
    const browser = world.client({ ip: ipOf(nth) })
    await browser.signIn(ada)
    await browser.post('/auth/email/change', { newEmail: moved, password: ada.password })
    const token = mailbox.token(await mailbox.waitFor(moved, 'Confirm your new email address'))
    expect((await browser.post('/auth/email/confirm', { token })).status).toBe(200)
    const undo = mailbox.token(await mailbox.waitFor(ada.email, 'Your email address was changed'))
    expect((await browser.post('/auth/email/undo', { token: undo })).status).toBe(200)
    await leap(world, 600)
  }
  await settled(world)
  expect(counts(world, ada.email, 'Your email address was changed')).toEqual([5])
})

test('a notice counts once, however often its delivery is tried, and exactly one of many at once sums up', async () => {
  const { store, close } = await openSqliteMemory()
  const { notice } = createLimiter({ counters: store.counters, limits: limits.parse({}), now: () => 1_700_000_000 })
  const about = (id: string) => notice({ id, kind: 'new-device', address: ada.email })
  for (let attempt = 0; attempt < 9; attempt += 1) expect(await about('first')).toBe('send')
  const verdicts = await Promise.all(Array.from({ length: 20 }, (_, index) => about(`mail-${index}`)))
  expect(verdicts.filter((verdict) => verdict === 'send')).toHaveLength(2)
  expect(verdicts.filter((verdict) => typeof verdict === 'object')).toEqual([{ sumUpUntil: 1_700_003_600 }])
  expect(verdicts.filter((verdict) => verdict === 'drop')).toHaveLength(17)
  await close()
})
