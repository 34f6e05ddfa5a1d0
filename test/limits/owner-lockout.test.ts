import { describe, expect, test } from 'vitest'
import type { TestClient } from '../../src/testing.js'
import { ada, type TestAuth } from '../support/auth.js'
import { inTurn, ipOf, leap, limitedAuth, networkOf, times } from '../support/limits.js'
import { enrol, type Factor, firstStep } from '../support/totp.js'

const path = '/auth/login/two-factor'
const otpSubject = 'Your code to sign in'
const newPassword = 'analytical engine 1843'

interface World extends TestAuth {
  /** The browser that set the factor up. */
  owner: TestClient
  factor: Factor
}

async function world(): Promise<World> {
  const limited = await limitedAuth()
  const owner = limited.client({ ip: networkOf(1) })
  await owner.signUp(ada)
  const factor = await enrol(owner, ada.password, limited.runtime.clock)
  await leap(limited, 60)
  return { ...limited, owner, factor }
}

/** A person who knows the password guesses that often, in a new browser of another address each time. */
function guessed({ client, factor }: World, guesses: number, password = ada.password): Promise<number[]> {
  return inTurn(guesses, async (index) => {
    const thief = client({ ip: ipOf(index) })
    return thief.post(path, { challenge: await firstStep(thief, { ...ada, password }), code: factor.wrongCode() })
  })
}

/** Wrong codes in the browser of the owner. */
function wrongInBrowser(limited: World, guesses: number): Promise<number[]> {
  const { owner, factor } = limited
  return inTurn(guesses, async () => {
    await leap(limited, 5)
    return owner.post(path, { challenge: await firstStep(owner, ada), code: factor.wrongCode() })
  })
}

/** As many guesses as there are without a success: 20 an hour. */
async function useUp(limited: World): Promise<void> {
  for (let hour = 0; hour < 5; hour += 1) {
    expect(await guessed(limited, 20)).toEqual(times(20, 401))
    await leap(limited, 3_600)
  }
  expect(await guessed(limited, 1)).toEqual([429])
}

async function signsIn(browser: TestClient, code: string, password = ada.password): Promise<number> {
  const challenge = await firstStep(browser, { ...ada, password })
  return (await browser.post(path, { challenge, code })).status
}

async function resets({ client, mailbox }: World, index: number): Promise<TestClient> {
  const browser = client({ ip: networkOf(index) })
  await browser.post('/auth/password/forgot', { email: ada.email })
  const token = mailbox.token(await mailbox.waitFor(ada.email, 'Choose a new password'))
  expect((await browser.post('/auth/password/reset', { token, password: newPassword })).status).toBe(200)
  return browser
}

describe('a person who knows the password and guesses at the second factor', () => {
  test('ATK-291 does not lock out the known browser of the owner, by an app code or a backup code', async () => {
    const limited = await world()
    const { owner, factor } = limited
    await useUp(limited)
    await owner.signOut()
    expect(await signsIn(owner, await factor.nextCode())).toBe(200)

    await useUp(limited)
    await owner.signOut()
    expect(await signsIn(owner, factor.backupCodes[0] ?? '')).toBe(200)
  })

  test('ATK-291 locks out every other browser, which a password reset by mail opens once, for twenty guesses', async () => {
    const limited = await world()
    const { client, factor } = limited
    await useUp(limited)
    expect(await signsIn(client({ ip: networkOf(2) }), await factor.nextCode())).toBe(429)

    const browser = await resets(limited, 3)
    expect(await guessed(limited, 21, newPassword)).toEqual([...times(20, 401), 429])
    await resets(limited, 4)
    await leap(limited, 3_600)
    expect(await guessed(limited, 1, newPassword)).toEqual([429])
    expect(await signsIn(browser, await factor.nextCode(), newPassword)).toBe(429)
  })

  test('ATK-291 leaves the owner a way in by a reset, which forgets all guesses when the code is right', async () => {
    const limited = await world()
    await useUp(limited)
    const browser = await resets(limited, 3)
    expect(await signsIn(browser, await limited.factor.nextCode(), newPassword)).toBe(200)
    expect(await guessed(limited, 21, newPassword)).toEqual([...times(20, 401), 429])
  })

  test('ATK-291 uses up the guesses of a known browser in that browser only, and no more than as many', async () => {
    const limited = await world()
    const { client, owner, factor } = limited
    await owner.signOut()
    expect(await wrongInBrowser(limited, 21)).toEqual([...times(20, 401), 429])
    expect(await signsIn(client({ ip: networkOf(2) }), await factor.nextCode())).toBe(200)
    await leap(limited, 60)
    expect(await signsIn(owner, await factor.nextCode())).toBe(429)
  })

  test('ATK-291 does not stop the owner from confirming steps in a session of a known browser', async () => {
    const limited = await world()
    await useUp(limited)
    expect((await limited.owner.refresh()).status).toBe(200)
    const proof = { password: ada.password, code: await limited.factor.nextCode() }
    expect((await limited.owner.post('/auth/two-factor/backup-codes', proof)).status).toBe(200)
  })

  test('ATK-291 a factor that an administrator took away takes its guesses along, those of known browsers too', async () => {
    const limited = await world()
    const { owner, auth, runtime } = limited
    const { id } = (await auth.users.findByEmail(ada.email)) ?? { id: '' }
    await owner.signOut()
    expect(await wrongInBrowser(limited, 21)).toEqual([...times(20, 401), 429])
    await auth.users.update(id, { twoFactor: false })
    await owner.signIn(ada)
    const next = await enrol(owner, ada.password, runtime.clock)
    await owner.signOut()
    expect(await signsIn(owner, await next.nextCode())).toBe(200)
  })
})

describe('a person who knows the password and asks for second steps', () => {
  test('ATK-292 one every 2 seconds does not end that of the owner, in a known browser or another', async () => {
    for (const known of [true, false]) {
      const limited = await world()
      const { client, owner, factor } = limited
      await owner.signOut()
      const browser = known ? owner : client({ ip: networkOf(2) })
      const challenge = await firstStep(browser, ada)
      for (let nth = 0; nth < 30; nth += 1) {
        await leap(limited, 2)
        // For the known browser from any number of networks.
        await firstStep(client({ ip: known ? networkOf(nth + 3) : ipOf(nth) }), ada)
      }
      expect((await browser.post(path, { challenge, code: factor.code() })).status).toBe(200)
    }
  })

  test('ATK-292 five live side by side, and a sixth ends the oldest of the network with the most', async () => {
    const { client, factor } = await world()
    const one = await firstStep(client({ ip: networkOf(2) }), ada)
    const theirs: string[] = []
    for (let nth = 0; nth < 5; nth += 1) theirs.push(await firstStep(client({ ip: ipOf(nth) }), ada))
    const guess = (challenge: string) => client().post(path, { challenge, code: factor.wrongCode() })
    const statuses = await Promise.all([one, ...theirs].map(async (challenge) => (await guess(challenge)).status))
    expect(statuses).toEqual([401, 400, 401, 401, 401, 401])
  })

  test('ATK-292 a browser has one: its new first step ends its own former one', async () => {
    const { client, factor } = await world()
    const browser = client({ ip: networkOf(2) })
    const former = await firstStep(browser, ada)
    const other = await firstStep(client({ ip: networkOf(2) }), ada)
    const newest = await firstStep(browser, ada)
    const guess = (challenge: string) => client().post(path, { challenge, code: factor.wrongCode() })
    expect((await guess(former)).status).toBe(400)
    expect((await guess(other)).status).toBe(401)
    expect((await guess(newest)).status).toBe(401)
  })
})

describe('a person who knows the address and guesses at mailed codes', () => {
  test('ATK-293 ATK-023 does not lock out the browser that asked, and soon guesses at eight digits', async () => {
    const limited = await limitedAuth()
    const { client, mailbox } = limited
    await limited.auth.users.create({ ...ada, emailVerified: true })
    const lengths: number[] = []
    for (let round = 0; round < 5; round += 1) {
      const stranger = client({ ip: networkOf(round) })
      await stranger.post('/auth/otp', { email: ada.email })
      lengths.push(mailbox.code(await mailbox.waitFor(ada.email, otpSubject)).length)
      const wrong = () => stranger.post('/auth/otp/verify', { email: ada.email, code: 'never' })
      expect(await inTurn(6, wrong)).toEqual(times(6, 400))
    }
    expect(lengths).toEqual([6, 6, 6, 6, 8])

    const owner = client({ ip: networkOf(100) })
    await owner.post('/auth/otp', { email: ada.email })
    const code = mailbox.code(await mailbox.waitFor(ada.email, otpSubject))
    expect(code).toMatch(/^\d{8}$/)
    expect((await owner.post('/auth/otp/verify', { email: ada.email, code })).status).toBe(200)

    const next = client({ ip: networkOf(101) })
    await next.post('/auth/otp', { email: ada.email })
    expect(mailbox.code(await mailbox.waitFor(ada.email, otpSubject))).toMatch(/^\d{6}$/)
  })

  test('ATK-293 a stranger who asks after the owner does not end the code of the owner', async () => {
    const { auth, client, mailbox } = await limitedAuth()
    await auth.users.create({ ...ada, emailVerified: true })
    const owner = client({ ip: networkOf(100) })
    await owner.post('/auth/otp', { email: ada.email })
    const code = mailbox.code(await mailbox.waitFor(ada.email, otpSubject))
    // From one network the codes of a stranger end only one another.
    for (let nth = 0; nth < 3; nth += 1) await client({ ip: networkOf(1) }).post('/auth/otp', { email: ada.email })
    expect((await owner.post('/auth/otp/verify', { email: ada.email, code })).status).toBe(200)
  })

  test('ATK-293 does not lock out the browser that registered', async () => {
    const { client, mailbox } = await limitedAuth()
    const owner = client({ ip: networkOf(100) })
    await owner.post('/auth/register', ada)
    const code = mailbox.code(await mailbox.waitFor(ada.email, 'Confirm'))
    for (let round = 0; round < 5; round += 1) {
      const stranger = client({ ip: networkOf(Math.floor(round / 3)) })
      await stranger.post('/auth/register', ada)
      const wrong = () => stranger.post('/auth/verify-email', { email: ada.email, code: 'never' })
      expect(await inTurn(5, wrong)).toEqual(times(5, 400))
    }
    expect((await owner.post('/auth/verify-email', { email: ada.email, code })).status).toBe(200)
  })
})
