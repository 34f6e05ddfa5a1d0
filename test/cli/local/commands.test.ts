import { describe, expect, test, vi } from 'vitest'
import { admin, openLocalDesk } from '../../support/local-desk.js'

const patience = { timeout: 20_000, interval: 50 }

describe('beside a running application', { timeout: 60_000 }, () => {
  test('ATK-179 a token, a JWKS URL and an address of the tool come into force there, with the tool as their actor', async () => {
    const desk = await openLocalDesk()
    const { auth, call } = await desk.start()

    const created = await desk.run(['add-token', '--readonly', '--name', 'ci'])
    expect(created).toMatchObject({ code: 0 })
    expect(created.stderr).toMatch(/^local sqlite:\.\/latchkey\.db\n/)
    const token = /token (\S+) with access READ/.exec(created.stdout)?.[1] ?? ''
    await vi.waitFor(async () => expect(await call({ 'x-apikey': token })).toBe(200), patience)

    const url = 'http://127.0.0.1:1/.well-known/jwks.json'
    expect(await desk.run(['jwks', url])).toMatchObject({ code: 1 })
    expect(await desk.run(['jwks', url, '--no-check'])).toMatchObject({ code: 0 })
    await vi.waitFor(async () => expect((await auth.access.get()).jwksUrl).toBe(url), patience)

    expect(await desk.run(['whitelist', '203.0.113.7', '--yes'])).toMatchObject({ code: 0 })
    await vi.waitFor(async () => expect(await call({ 'x-apikey': token })).toBe(403), patience)
    expect(await desk.run(['whitelist-remove', '203.0.113.7', '--confirm', 'everyone'])).toMatchObject({ code: 0 })
    await vi.waitFor(async () => expect(await call({ 'x-apikey': token })).toBe(200), patience)

    const id = (await auth.apiTokens.list()).items[0]?.id ?? ''
    expect(await desk.run(['remove-token', id])).toMatchObject({ code: 0 })
    await vi.waitFor(async () => expect(await call({ 'x-apikey': token })).toBe(401), patience)
    expect(await desk.run(['remove-token', id])).toMatchObject({ code: 1 })

    const { items } = await auth.audit.list()
    const changes = items.filter(({ event }) => event.startsWith('api_token') || event === 'access_changed')
    expect(changes).toHaveLength(5)
    expect(changes.map(({ actor }) => actor?.kind)).toEqual(changes.map(() => 'tool'))
    expect(await auth.audit.verify()).toMatchObject({ ok: true })
  })

  test('create-admin makes an administrator who can sign in', async () => {
    const desk = await openLocalDesk()
    const { auth, url } = await desk.start()
    const done = await desk.run(['create-admin', admin.email, '--password', '-'], { input: admin.password })
    expect(done).toMatchObject({ code: 0, stdout: `Created account ${admin.email} with the role ADMIN.\n` })
    expect(await auth.users.findByEmail(admin.email)).toMatchObject({ emailVerified: true, roles: ['ADMIN'] })
    const body = JSON.stringify({ ...admin, mode: 'token' })
    const headers = { 'content-type': 'application/json' }
    const signedIn = await fetch(`${url}/auth/login`, { method: 'POST', headers, body })
    expect(signedIn.status).toBe(200)
  })
})

describe('on a database of its own', { timeout: 60_000 }, () => {
  test('migrate makes the tables, says so once, and its dry run makes nothing', async () => {
    const desk = await openLocalDesk()
    const dry = await desk.run(['migrate', '--dry-run'])
    expect(dry).toMatchObject({ code: 0, stderr: '' })
    expect(dry.stdout).toMatch(/^-- 0001-first\ncreate table/)
    expect(await desk.run(['tokens'])).toMatchObject({ code: 2, stdout: '' })
    const done = await desk.run(['migrate'])
    expect(done.stdout).toMatch(/^0001-first\n(?:\d{4}-\S+\n)+The schema is current\.\n$/)
    expect(await desk.run(['migrate'])).toMatchObject({ code: 0, stdout: 'The schema is current.\n' })
    expect(await desk.run(['migrate', '--dry-run'])).toMatchObject({ stdout: 'The schema is current.\n' })
  })

  test('create-admin names the line to add, asks twice without showing the password, and holds to the password rules', async () => {
    const desk = await openLocalDesk()
    await desk.run(['migrate'])
    const other = await desk.run(['create-admin', 'bob@example.org', '--invite'])
    expect(other).toMatchObject({ code: 2, stdout: '' })
    expect(other.stderr).toContain(`admin: { emails: ['${admin.email}', 'bob@example.org'] },`)
    const weak = await desk.run(['create-admin', admin.email, '--password', '-'], { input: 'short' })
    expect(weak).toMatchObject({ code: 1, stdout: '' })
    expect(weak.stderr).toContain('It is too short. The setting password.minLength')

    const answers = [
      ['Choose a password', `${admin.password}\r`],
      ['Type it again', `${admin.password}\r`],
    ] as const
    const { code, screen } = await desk.type(['create-admin', admin.email], answers)
    expect(code).toBe(0)
    expect(screen).not.toContain(admin.password)
    expect(screen).toContain('with the role ADMIN')
  })
})
