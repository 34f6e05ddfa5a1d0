import { describe, expect, test } from 'vitest'
import type { TestClient } from '../../src/testing.js'
import { ada, type TestAuth } from '../support/auth.js'
import { guess, inTurn, ipOf, leap, limitedAuth, networkOf, times } from '../support/limits.js'

const quarter = 900
const day = 86_400
const codeSubject = 'Your code to sign in'
const resetSubject = 'Choose a new password'
const newPassword = 'analytical engine 1843'

/** A world in which ada has an account, and a browser that has signed in to it. */
async function accountOfAda(): Promise<TestAuth & { known: TestClient }> {
  const world = await limitedAuth()
  await world.auth.users.create({ ...ada, emailVerified: true })
  const known = world.client({ ip: networkOf(100) })
  await known.signIn(ada)
  await known.signOut()
  // The attacks begin on another day than the sign-in.
  await leap(world, day)
  return { ...world, known }
}

/** Five hours of guesses at the password and of requests for mails, from these addresses in turn. */
async function attack(world: TestAuth, ips: readonly string[]): Promise<void> {
  const attacker = (index: number) => world.client({ ip: ips[index % ips.length] ?? '' })
  for (let round = 0; round < 10; round += 1) {
    await Promise.all(times(10, 0).map((_, index) => guess(attacker(index), ada.email)))
    await inTurn(3, (index) => attacker(round + index).post('/auth/otp', { email: ada.email }))
    await inTurn(3, (index) => attacker(round + index).post('/auth/password/forgot', { email: ada.email }))
    await leap(world, 2 * quarter)
  }
}

async function countMails({ auth, mailbox }: TestAuth, to: string): Promise<number> {
  await auth.close()
  return mailbox.mails.filter((mail) => mail.to === to).length
}

/** Lets every mail of the attack arrive, and reads past it. */
async function skipMails({ mailbox }: TestAuth, count: number): Promise<void> {
  for (let nth = 0; nth < count; nth += 1) await mailbox.waitFor(ada.email)
}

async function signsInByCode({ mailbox }: TestAuth, browser: TestClient): Promise<number> {
  await browser.post('/auth/otp', { email: ada.email })
  const code = mailbox.code(await mailbox.waitFor(ada.email, codeSubject))
  return (await browser.post('/auth/otp/verify', { email: ada.email, code })).status
}

async function resets({ mailbox }: TestAuth, browser: TestClient): Promise<number> {
  await browser.post('/auth/password/forgot', { email: ada.email })
  const token = mailbox.token(await mailbox.waitFor(ada.email, resetSubject))
  return (await browser.post('/auth/password/reset', { token, password: newPassword })).status
}

describe('wrong passwords and requested mails for five hours', () => {
  test('ATK-215 from one network leave the owner a code, a reset and then the password, from any other network', async () => {
    const world = await accountOfAda()
    await attack(world, [ipOf(1), ipOf(2), ipOf(3)])
    const owner = world.client({ ip: networkOf(1) })
    expect((await owner.post('/auth/login', ada)).status).toBe(429)
    await skipMails(world, 5 + 5)
    expect(await signsInByCode(world, owner)).toBe(200)
    expect(await resets(world, world.client({ ip: networkOf(2) }))).toBe(200)
    const changed = { ...ada, password: newPassword }
    expect((await world.client({ ip: networkOf(2) }).post('/auth/login', changed)).status).toBe(200)
  })

  test('ATK-215 from several networks leave a known device of the owner every way in', async () => {
    const world = await accountOfAda()
    await attack(world, [1, 2, 3, 4, 5].map(networkOf))
    expect((await world.client().post('/auth/login', ada)).status).toBe(429)
    await skipMails(world, 15 + 15)
    expect(await signsInByCode(world, world.known)).toBe(200)
    expect(await resets(world, world.known)).toBe(200)
    expect((await world.known.post('/auth/login', { ...ada, password: newPassword })).status).toBe(200)
  })

  test('ATK-215 using up one kind of mail leaves the others', async () => {
    const world = await accountOfAda()
    const ask = (index: number) => world.client({ ip: networkOf(index) }).post('/auth/otp', { email: ada.email })
    expect(await inTurn(20, ask)).toEqual(times(20, 202))
    await skipMails(world, 15)
    expect(await resets(world, world.client({ ip: networkOf(1) }))).toBe(200)
  })
})

describe('twelve registrations of an address', () => {
  const newcomer = { email: 'newcomer@example.test', password: 'a phrase of their own' }

  test.each([
    ['one network', (index: number) => ipOf(index)],
    ['two networks', (index: number) => networkOf(index % 2)],
  ])('ATK-215 from %s leave a newcomer the mail, from their own network', async (_how, ip) => {
    const world = await limitedAuth()
    for (let round = 0; round < 4; round += 1) {
      await inTurn(12, (index) =>
        world.client({ ip: ip(index) }).post('/auth/register', { ...ada, email: newcomer.email }),
      )
      await leap(world, quarter)
    }
    const sent = ip(0) === ipOf(0) ? 5 : 10
    for (let nth = 0; nth < sent; nth += 1) await world.mailbox.waitFor(newcomer.email)
    const browser = world.client({ ip: networkOf(100) })
    await browser.post('/auth/register', newcomer)
    const token = world.mailbox.token(await world.mailbox.waitFor(newcomer.email))
    expect((await browser.post('/auth/verify-email', { token })).status).toBe(200)
    expect(await countMails(world, newcomer.email)).toBe(sent + 1)
  })
})

describe('registrations of an address from other networks', () => {
  const newcomer = { email: 'newcomer@example.test', password: 'a phrase of their own' }
  const register = ({ client }: TestAuth, network: number, at = client({ ip: networkOf(network) })) =>
    at.post('/auth/register', newcomer)

  test.each([
    ['one', [1, 1, 1, 1, 1]],
    ['two', [1, 2, 1, 2, 1, 2]],
  ])('ATK-007 from %s do not push out the only one of a newcomer', async (_how, networks) => {
    const world = await limitedAuth()
    await register(world, 1)
    await world.mailbox.waitFor(newcomer.email)
    const browser = world.client({ ip: networkOf(100) })
    await register(world, 100, browser)
    const token = world.mailbox.token(await world.mailbox.waitFor(newcomer.email))
    for (const network of networks) {
      await register(world, network)
      await leap(world, quarter / 2)
    }
    expect((await browser.post('/auth/verify-email', { token })).status).toBe(200)
  })

  test('ATK-007 are all dropped when the account is created', async () => {
    const world = await limitedAuth()
    await register(world, 1)
    const planted = world.mailbox.token(await world.mailbox.waitFor(newcomer.email))
    const browser = world.client({ ip: networkOf(100) })
    await register(world, 100, browser)
    const token = world.mailbox.token(await world.mailbox.waitFor(newcomer.email))
    expect((await browser.post('/auth/verify-email', { token })).status).toBe(200)
    const late = await world.client().post('/auth/verify-email', { token: planted, password: newcomer.password })
    expect(late.body).toMatchObject({ status: 400, code: 'invalid_token' })
  })
})

describe('the mails of an address', () => {
  const otp = (client: TestClient) => () => client.post('/auth/otp', { email: ada.email })

  /** Asks that often in each of so many quarters of an hour. */
  async function asked(world: TestAuth, quarters: number, ask: (index: number) => Promise<{ status: number }>) {
    for (let round = 0; round < quarters; round += 1) {
      for (let nth = 0; nth < 4; nth += 1) expect((await ask(nth)).status).toBe(202)
      await leap(world, quarter)
    }
  }

  test('ATK-020 ATK-215 a network gets three in 15 minutes and five a day, all together fifteen a day', async () => {
    const world = await accountOfAda()
    const ask = (network: number) => otp(world.client({ ip: networkOf(network) }))
    await asked(world, 1, ask(1))
    await skipMails(world, 3)
    await asked(world, 3, ask(1))
    await skipMails(world, 2)
    for (const network of [2, 3, 4, 5]) await asked(world, 3, ask(network))
    expect(await countMails(world, ada.email)).toBe(15)
  })

  test('ATK-215 a known device gets three in 15 minutes and ten a day, and uses up no other', async () => {
    const world = await accountOfAda()
    await asked(world, 6, otp(world.known))
    await skipMails(world, 10)
    const neighbour = otp(world.client({ ip: networkOf(100) }))
    await asked(world, 1, neighbour)
    await skipMails(world, 3)
    for (const network of [1, 2, 3, 4]) await asked(world, 2, otp(world.client({ ip: networkOf(network) })))
    expect(await countMails(world, ada.email)).toBe(10 + 15)
  })

  test('ATK-215 a request that is refused fills nothing: when the day of all is over, a network has its own whole', async () => {
    const world = await accountOfAda()
    for (const network of [1, 2, 3]) await asked(world, 2, otp(world.client({ ip: networkOf(network) })))
    await skipMails(world, 15)
    const owner = otp(world.client({ ip: networkOf(4) }))
    await asked(world, 4, owner)
    await leap(world, day - 10 * quarter)
    await asked(world, 2, owner)
    await skipMails(world, 5)
    expect(await countMails(world, ada.email)).toBe(20)
  })

  test('ATK-215 a device of another account counts as none', async () => {
    const world = await accountOfAda()
    const mallory = { email: 'mallory@example.test', password: 'correct donkey staple' }
    await world.auth.users.create({ ...mallory, emailVerified: true })
    for (let nth = 0; nth < 6; nth += 1) {
      const browser = world.client({ ip: networkOf(1) })
      await browser.signIn(mallory)
      expect((await otp(browser)()).status).toBe(202)
    }
    expect(await countMails(world, ada.email)).toBe(3)
  })

  test('ATK-020 ATK-215 a device of an account whose address is not proved counts as none', async () => {
    const world = await limitedAuth({ registration: { emailVerification: 'optional' } })
    await world.client({ ip: networkOf(1) }).post('/auth/register', ada)
    for (let nth = 0; nth < 6; nth += 1) {
      const browser = world.client({ ip: networkOf(1) })
      await browser.signIn(ada)
      expect((await browser.post('/auth/verify-email/resend')).status).toBe(202)
    }
    expect(await countMails(world, ada.email)).toBe(3)
  })

  test('ATK-215 a handle gives no bucket: the browser that registered counts with its network', async () => {
    const world = await limitedAuth()
    const browsers = Array.from({ length: 3 }, (_, index) => world.client({ ip: ipOf(index) }))
    for (const browser of browsers) await browser.post('/auth/register', ada)
    for (const browser of browsers) await browser.post('/auth/verify-email/resend', { email: ada.email })
    expect(await countMails(world, ada.email)).toBe(3)
  })

  test('ATK-215 addresses that cannot be known are one network, and IPv6 counts by its /48', async () => {
    const world = await accountOfAda()
    const body = JSON.stringify({ email: ada.email })
    const headers = { 'content-type': 'application/json' }
    const ask = () => world.auth.fetch(new Request('http://localhost:3000/auth/otp', { method: 'POST', headers, body }))
    for (let nth = 0; nth < 6; nth += 1) expect((await ask()).status).toBe(202)
    await skipMails(world, 3)
    for (let nth = 0; nth < 6; nth += 1) await otp(world.client({ ip: `2001:db8:7:${nth}::1` }))()
    await skipMails(world, 3)
    await otp(world.client({ ip: '2001:db8:8::1' }))()
    expect(await countMails(world, ada.email)).toBe(7)
  })

  test('ATK-215 the settings change the numbers: the day has at least as many, all together three times the day', async () => {
    const world = await limitedAuth({ limits: { mail: { ip: '100/1m', account: '7/15m' } } })
    await world.auth.users.create({ ...ada, emailVerified: true })
    for (const network of [1, 2, 3, 4]) await inTurn(9, otp(world.client({ ip: networkOf(network) })))
    expect(await countMails(world, ada.email)).toBe(21)
  })
})
