import { describe, expect, it } from 'vitest'
import { ada, testAuth } from '../support/auth.js'
import { enrol, firstStep } from '../support/totp.js'

const refusal = { status: 403, code: 'two_factor_enrolment_required' }

describe('twoFactor.required', () => {
  it('keeps everybody out of the API who has proved one factor, and lets them set up the second', async () => {
    const { client, runtime, passed, auth } = await testAuth({ twoFactor: { required: true } })
    const browser = client()
    await browser.signUp(ada)
    for (const turn of [1, 2]) expect((await browser.get('/api/notes')).body, `request ${turn}`).toMatchObject(refusal)
    const headers = { cookie: browser.cookies.header(new URL('http://localhost:3000/')) ?? '' }
    const request = new Request('http://localhost:3000/anywhere', { headers })
    expect(await auth.principal(request)).toBeNull()
    expect(passed).toEqual([])

    expect((await browser.get('/auth/me')).status).toBe(200)
    expect((await browser.refresh()).status).toBe(200)
    expect((await browser.get('/api/notes')).body).toMatchObject(refusal)
    const factor = await enrol(browser, ada.password, runtime.clock)
    expect((await browser.get('/api/notes')).status).toBe(200)
    expect(passed.at(-1)?.principal).toMatchObject({ kind: 'session', amr: ['pwd', 'otp', 'mfa'] })

    const other = client()
    const challenge = await firstStep(other, ada)
    expect((await other.get('/api/notes')).status).toBe(401)
    await other.post('/auth/login/two-factor', { challenge, code: factor.backupCodes[0] })
    expect((await other.get('/api/notes')).status).toBe(200)
  })

  it('asks again for a factor when it was turned off, and when the application took it away', async () => {
    const { client, runtime, auth } = await testAuth({ twoFactor: { required: true } })
    const browser = client()
    const { body } = await browser.signUp(ada)
    const factor = await enrol(browser, ada.password, runtime.clock)
    await browser.delete('/auth/two-factor', { password: ada.password, code: await factor.nextCode() })
    expect((await browser.get('/api/notes')).body).toMatchObject(refusal)
    await enrol(browser, ada.password, runtime.clock)
    expect((await browser.get('/api/notes')).status).toBe(200)
    await auth.users.update(body.user.id, { twoFactor: false })
    expect((await browser.get('/api/notes')).status).toBe(401)
    await browser.signIn(ada)
    expect((await browser.get('/api/notes')).body).toMatchObject(refusal)
  })

  it('holds for the roles it names, as soon as somebody has one', async () => {
    const { client, runtime, auth } = await testAuth({ twoFactor: { required: ['MANAGER', 'OWNER'] } })
    const browser = client()
    const { body } = await browser.signUp(ada)
    expect((await browser.get('/api/notes')).status).toBe(200)
    await auth.users.update(body.user.id, { roles: ['EDITOR', 'OWNER'] })
    await browser.refresh()
    expect((await browser.get('/api/notes')).body).toMatchObject(refusal)
    await enrol(browser, ada.password, runtime.clock)
    expect((await browser.get('/api/notes')).status).toBe(200)
  })

  it('holds for the computed role ADMIN', async () => {
    const { client, runtime } = await testAuth({ twoFactor: { required: ['ADMIN'] }, admin: { emails: [ada.email] } })
    const browser = client()
    await browser.signUp(ada)
    expect((await browser.get('/api/notes')).body).toMatchObject(refusal)
    await enrol(browser, ada.password, runtime.clock)
    expect((await browser.get('/api/notes')).status).toBe(200)
  })

  it('leaves public routes and other paths alone', async () => {
    const everybody = await testAuth({ twoFactor: { required: true }, publicRoutes: ['/api/news'] })
    const browser = everybody.client()
    await browser.signUp(ada)
    expect((await browser.get('/api/news')).status).toBe(200)
    expect((await browser.get('/elsewhere')).status).toBe(200)
  })
})
