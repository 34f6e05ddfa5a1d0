import { describe, expect, it } from 'vitest'
import { removeAccount } from '../../../src/flows/control/remove-account.js'
import { ada, testAuth } from '../../support/auth.js'
import { liveWorld } from '../../support/live.js'

const bo = { ...ada, email: 'bo@example.test' }
const refusal = { status: 409, body: { code: 'would_lock_out' } }

describe('the last administrator', () => {
  it('cannot delete the own account, until another one is there', async () => {
    const { client, auth } = await testAuth({ admin: { emails: [ada.email, bo.email] } })
    const browser = client()
    await browser.signUp(ada)
    expect(await browser.delete('/auth/me', { password: ada.password })).toMatchObject(refusal)
    expect((await browser.get('/auth/me')).status).toBe(200)
    const other = (await client().signUp(bo)).body.user
    await auth.users.disable(other.id)
    expect(await browser.delete('/auth/me', { password: ada.password })).toMatchObject(refusal)
    await auth.users.enable(other.id)
    expect((await browser.delete('/auth/me', { password: ada.password })).status).toBe(204)
  })

  it('is kept by the calls of the application, too', async () => {
    const { client, auth } = await testAuth({ admin: { emails: [ada.email] } })
    const { id } = (await client().signUp(ada)).body.user
    const lockOut = { code: 'would_lock_out' }
    await expect(auth.users.delete(id)).rejects.toMatchObject(lockOut)
    await expect(auth.users.disable(id)).rejects.toMatchObject(lockOut)
    const { user } = (await client().signUp(bo)).body
    expect(await auth.users.delete(user.id)).toBe(true)
  })

  it('is nobody without the role, so that such an account can go', async () => {
    const { client, auth } = await testAuth({ admin: { emails: [bo.email] } })
    const browser = client()
    await browser.signUp(ada)
    const { id } = await auth.users.create({ email: bo.email })
    expect(await auth.users.delete(id)).toBe(true)
    expect((await browser.delete('/auth/me', { password: ada.password })).status).toBe(204)
  })
})

it('an administrator cannot delete the own account among those of others', async () => {
  const { client, ports } = await liveWorld({ admin: { emails: [ada.email, bo.email] } })
  const { user, session } = (await client().signUp(ada)).body
  await client().signUp(bo)
  const actor = { kind: 'user', userId: user.id, sessionId: session.id, impersonating: null } as const
  const visitor = { ip: null, userAgent: null, actor }
  await expect(removeAccount(ports, { id: user.id, visitor })).rejects.toMatchObject({ code: 'would_lock_out' })
  expect(await ports.users.findById(user.id)).not.toBeNull()
})
