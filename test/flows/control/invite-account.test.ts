import { describe, expect, it } from 'vitest'
import { inviteAccount } from '../../../src/flows/control/invite-account.js'
import type { SignedIn } from '../../../src/testing.js'
import { ada } from '../../support/auth.js'
import { type LiveWorld, liveWorld } from '../../support/live.js'

const visitor = { ip: null, userAgent: null, actor: { kind: 'application' } } as const
const account = { email: ada.email, name: 'Ada Lovelace', roles: ['EDITOR'] }
const kept = { name: 'Ada Lovelace', roles: ['EDITOR'], emailVerified: true }

async function invited(overrides: Parameters<typeof liveWorld>[0] = {}) {
  const world = await liveWorld(overrides)
  const user = await inviteAccount(world.ports, { account, visitor })
  const mail = await world.mailbox.waitFor(ada.email)
  return { ...world, user, mail, token: world.mailbox.token(mail) }
}

const use = ({ client }: Pick<LiveWorld, 'client'>, token: string) =>
  client().post('/auth/password/reset', { token, password: ada.password })

describe('an invitation', () => {
  it('mails a link to the page where a password is set, and name and roles survive', async () => {
    const world = await invited()
    expect(world.user).toMatchObject({ ...kept, emailVerified: false })
    expect(world.mail.subject).toBe('Your invitation to localhost')
    expect(world.mail.text).toContain('Ada Lovelace')
    expect(world.mailbox.link(world.mail)).toMatch(/^http:\/\/localhost:3000\/auth\/reset\?token=[\w-]{43}$/)
    expect((await world.client().get(`/auth/reset?token=${world.token}`)).text).toContain('type="password"')

    expect((await use(world, world.token)).status).toBe(200)
    expect((await world.client().signIn(ada)).body.user).toMatchObject(kept)
    expect((await use(world, world.token)).body).toMatchObject({ code: 'invalid_token' })
  })

  it('is valid for seven days', async () => {
    const world = await invited()
    await world.runtime.clock.advance('167h')
    expect((await use(world, 'x'.repeat(43))).status).toBe(400)
    await world.runtime.clock.advance('59m')
    expect((await use(world, world.token)).status).toBe(200)
    const late = await invited()
    await late.runtime.clock.advance('168h')
    expect((await use(late, late.token)).body).toMatchObject({ code: 'invalid_token' })
  })

  it('is not replaced by a reset that is asked for, whose link then drops it', async () => {
    const world = await invited()
    await world.client().post('/auth/password/forgot', { email: ada.email })
    const reset = world.mailbox.token(await world.mailbox.waitFor(ada.email, /new password/i))
    expect((await world.client().get(`/auth/reset?token=${world.token}`)).text).toContain('type="password"')
    expect((await use(world, reset)).status).toBe(200)
    expect((await use(world, world.token)).body).toMatchObject({ code: 'invalid_token' })
    expect((await world.client().signIn(ada)).body.user).toMatchObject(kept)
  })

  it('is dropped by a first proof with a mailed code, which keeps name and roles', async () => {
    const world = await invited()
    const browser = world.client()
    await browser.post('/auth/otp', { email: ada.email })
    const code = world.mailbox.code(await world.mailbox.waitFor(ada.email, /code/i))
    expect((await browser.post<SignedIn>('/auth/otp/verify', { code })).body.user).toMatchObject(kept)
    expect((await use(world, world.token)).body).toMatchObject({ code: 'invalid_token' })
  })

  it('makes an administrator where the address is listed, once it is used', async () => {
    const world = await invited({ admin: { emails: [ada.email] } })
    expect(world.user.roles).toEqual(['EDITOR'])
    await use(world, world.token)
    expect((await world.client().signIn(ada)).body.user.roles).toEqual(['EDITOR', 'ADMIN'])
  })

  it('ATK-115 takes neither the role ADMIN nor an address that has an account', async () => {
    const { ports } = await invited()
    const invite = (changes: object) => inviteAccount(ports, { account: { ...account, ...changes }, visitor })
    await expect(invite({ email: 'bo@example.test', roles: ['ADMIN'] })).rejects.toMatchObject({
      code: 'invalid_request',
    })
    await expect(invite({})).rejects.toMatchObject({ code: 'email_taken' })
  })
})
