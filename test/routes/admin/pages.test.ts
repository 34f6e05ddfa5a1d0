import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, onTestFinished, test } from 'vitest'
import { adminPageRoutes } from '../../../src/routes/admin/pages/index.js'
import { doneCodes } from '../../../src/routes/admin/pages/outcomes.js'
import { defaultLabels } from '../../../src/templates/labels.js'
import { administered, administrator, callers } from '../../support/administrators.js'
import { attackServer } from '../../support/attack-server.js'
import { enrol } from '../../support/totp.js'

const eyes = { headers: { 'sec-fetch-mode': 'navigate', accept: 'text/html' } }
type World = Pick<Awaited<ReturnType<typeof administered>>, 'auth' | 'admin'>

/** Posts a form of an admin page in the administrator's browser, and follows no redirect. */
async function post({ auth, admin }: World, path: string, fields: Record<string, string> = {}, headers = {}) {
  const url = new URL(`http://localhost:3000/auth/admin/api${path}`)
  const sent = {
    origin: url.origin,
    cookie: admin.cookies.header(url) ?? '',
    'content-type': 'application/x-www-form-urlencoded',
  }
  const body = String(new URLSearchParams(fields))
  const answer = await auth.fetch(new Request(url, { method: 'POST', headers: { ...sent, ...headers }, body }))
  return { status: answer.status, headers: answer.headers, text: await answer.text() }
}

const whereTo = (answer: { status: number; headers: Headers }) => [answer.status, answer.headers.get('location')]

const paths = adminPageRoutes.map(({ path }) => path)

describe('the admin pages', () => {
  test.each(paths)('%s is shown to an administrator alone', async (path) => {
    const { by, world } = await callers({
      admin: { emails: [administrator.email, 'second@example.test'], twoFactor: true },
    })
    const page = `/auth${path.replace(':id', world.adminId)}`
    const statusFor = async (client: (typeof by)[keyof typeof by]) => whereTo(await client.get(page, eyes))

    expect(await statusFor(by.ADMIN)).toEqual([200, null])
    expect(await statusFor(by['ADMIN, not recent'])).toEqual([200, null])
    expect(await statusFor(by.user)).toEqual([403, null])
    expect(await statusFor(by['API token READWRITE'])).toEqual([403, null])
    const signIn = `/auth/login?${new URLSearchParams({ redirect: page })}`
    expect(await statusFor(by['no credential'])).toEqual([303, signIn])
    const [status, location] = await statusFor(by['ADMIN without second factor'])
    expect([status, location]).toEqual([303, `/auth/account?${new URLSearchParams({ enrol: '1', redirect: page })}`])
  })

  test.each(paths)('ATK-126 %s stays out of caches and frames, and asks no other origin for anything', async (path) => {
    const { admin, adminId } = await administered()
    const { headers, text } = await admin.get(`/auth${path.replace(':id', adminId)}`, eyes)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('x-frame-options')).toBe('DENY')
    const policy = headers.get('content-security-policy') ?? ''
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).toContain("script-src 'self';")
    expect(Buffer.byteLength(text)).toBeLessThan(60_000)
    expect(
      [...text.matchAll(/(?:src|action)="([^"]*)"/g)].map(([, url]) => url).filter((url) => !url?.startsWith('/auth/')),
    ).toEqual([])
  })

  test('ATK-126 after signing out, the page leads to sign-in', async () => {
    const { admin } = await administered()
    await admin.signOut()
    expect((await admin.get('/auth/admin/tokens', eyes)).status).toBe(303)
  })

  test('are small files, in every language that has no texts for them', async () => {
    const asset = (name: string) => readFileSync(`templates/assets/${name}`).byteLength
    expect(asset('admin.css')).toBeLessThanOrEqual(12_000)
    expect(asset('admin.js')).toBeLessThanOrEqual(6_000)
    const { admin } = await administered({ locale: 'fr' })
    const { text } = await admin.get('/auth/admin', eyes)
    expect(text).toContain('<html lang="fr"')
    expect(text).toContain('Latest events')
  })

  test('show settings without a value in words', async () => {
    const { admin } = await administered({ redis: undefined, trustedOrigins: [] })
    const { text } = await admin.get<string>('/auth/admin/settings', eyes)
    const shown = (name: string) => new RegExp(`<code>${name}</code></th><td>(.*?)</td>`).exec(text)?.[1]
    expect(shown('basePath')).toBe('<code>/auth</code>')
    expect(shown('redis')).toBe('Not set')
    expect(shown('trustedOrigins')).toBe('None')
    expect(text).not.toMatch(/<code>(?:null|\[\]|)<\/code>/)
  })

  test('are where admin.page says, with their forms and the way to sign-in', async () => {
    const world = await administered({
      admin: { emails: [administrator.email], twoFactor: true, page: '/auth/office' },
    })
    expect((await world.admin.get('/auth/office/tokens', eyes)).text).toContain('action="/auth/admin/api/tokens"')
    expect((await world.admin.get('/auth/office/', eyes)).status).toBe(200)
    expect((await world.admin.get('/auth/admin/tokens', eyes)).status).toBe(404)
    const removed = await post(world, '/tokens/none', { _method: 'DELETE' })
    expect(removed.headers.get('location')).toBe('/auth/office/tokens?error=not_found&at=tokens#tokens')
    expect(whereTo(await world.client().get('/auth/office/jwks', eyes))).toEqual([
      303,
      '/auth/login?redirect=%2Fauth%2Foffice%2Fjwks',
    ])
  })

  test('do not exist without a path or without administrators', async () => {
    const none = await administered({ admin: { emails: [administrator.email], twoFactor: true, page: false } })
    for (const path of paths) expect((await none.admin.get(`/auth${path}`, eyes)).status, path).toBe(404)
    expect((await none.admin.get('/auth/admin/api')).status).toBe(200)
    const removed = await post(none, '/tokens/none', { _method: 'DELETE' })
    expect(removed.headers.get('location')).toContain('/auth/error?error=not_found')
  })

  test('ask an administrator whose session has not used the second factor to sign in again', async () => {
    const server = await attackServer({
      file: true,
      settings: { admin: { emails: [administrator.email], twoFactor: true } },
    })
    onTestFinished(() => server.close())
    await server.auth.users.create({ ...administrator, emailVerified: true })
    const client = server.client()
    await client.signIn(administrator)
    await enrol(client, administrator.password, server.runtime.clock)
    server.sql("update latchkey_sessions set amr = replace(amr, 'mfa', 'pwd') returning id")
    await client.refresh()
    const { status, text } = await client.get<string>('/auth/admin/tokens', eyes)
    expect(status).toBe(403)
    expect(text).toContain('Sign in with your second factor')
    expect(text).not.toContain('action="/auth/admin/api')
  })

  test('have a label for every outcome', () => {
    for (const code of doneCodes) expect(defaultLabels).toHaveProperty([`admin.done.${code}`])
  })

  test('follow the list by its cursor and keep the filter', async () => {
    const { admin, auth } = await administered()
    for (const name of ['a', 'b', 'c']) await auth.users.create({ email: `${name}@list.test`, emailVerified: true })
    const first = (await admin.get('/auth/admin/users?query=list.test&limit=2', eyes)).text
    const next = /<a href="(\?[^"]*)" rel="next"/.exec(first)?.[1]?.replaceAll('&amp;', '&').replaceAll('&#x3D;', '=')
    expect(next).toContain('query=list.test')
    const second = (await admin.get(`/auth/admin/users${next}`, eyes)).text
    const listed = [first, second].flatMap((text) =>
      [...text.matchAll(/<bdi>(\w@list\.test)<\/bdi>/g)].map(([, email]) => email),
    )
    expect(listed.sort()).toEqual(['a@list.test', 'b@list.test', 'c@list.test'])
    expect(second).not.toContain('rel="next"')
  })
})

describe('a form of an admin page', () => {
  test('returns to its section, which says what was done', async () => {
    const world = await administered()
    const { id } = await world.auth.apiTokens.create({ name: 'old' })
    const removed = await post(world, `/tokens/${id}`, { _method: 'DELETE' })
    expect(whereTo(removed)).toEqual([303, '/auth/admin/tokens?done=token_removed&at=tokens#tokens'])
    const { text } = await world.admin.get('/auth/admin/tokens?done=token_removed&at=tokens', eyes)
    expect(text).toContain('<p class="done" role="status">The token is removed.</p>')
  })

  test('returns to its section with the error, the field at fault and what was typed', async () => {
    const world = await administered()
    const refused = await post(world, '/access/networks', { network: 'nowhere' })
    expect(whereTo(refused)).toEqual([
      303,
      '/auth/admin/access?error=invalid_request&network=nowhere&fields=network&at=networks#networks',
    ])
    const { text } = await world.admin.get(refused.headers.get('location') ?? '', eyes)
    expect(text).toContain('Enter an IP address or a CIDR network')
    expect(text).toContain('value="nowhere"')
  })

  test('of an account returns to that account', async () => {
    const world = await administered()
    const user = await world.auth.users.create({ email: 'grace@example.test', emailVerified: true })
    const renamed = await post(world, `/users/${user.id}`, { _method: 'PATCH', name: 'Grace' })
    expect(whereTo(renamed)).toEqual([303, `/auth/admin/users/${user.id}?done=user_updated&at=profile#profile`])
    const refused = await post(world, `/users/${user.id}`, { _method: 'PATCH', roles: 'ADMIN' })
    expect(refused.headers.get('location')).toContain(`/auth/admin/users/${user.id}?error=invalid_request&fields=roles`)
  })

  test('that had nothing to do says so', async () => {
    const world = await administered()
    const user = await world.auth.users.create({ email: 'grace@example.test', emailVerified: true })
    const asked = await post(world, `/users/${user.id}/verification`)
    expect(whereTo(asked)).toEqual([303, `/auth/admin/users/${user.id}?done=already_verified&at=state#state`])
    const { text } = await world.admin.get(asked.headers.get('location') ?? '', eyes)
    expect(text).toContain('The address is confirmed already. No mail was sent.')
  })

  test('shows a new token once, as the answer to the POST', async () => {
    const world = await administered()
    const created = await post(world, '/tokens', { name: 'report', access: 'READ', cidrs: '', expiresAt: '' })
    expect(created.status).toBe(200)
    expect(created.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(created.headers.get('cache-control')).toBe('no-store')
    const token = /<code class="key" id="secret">([^<]+)</.exec(created.text)?.[1] ?? ''
    const api = world.client({ as: 'server', headers: { 'x-apikey': token } })
    expect((await api.get('/api/notes')).status).toBe(200)
    for (const path of ['/tokens', '', '/audit']) {
      expect((await world.admin.get(`/auth/admin${path}`, eyes)).text, path).not.toContain(token)
    }
    const [{ id = '' } = {}] = (await world.auth.apiTokens.list()).items
    const rotated = await post(world, `/tokens/${id}/rotate`, { overlap: '1d', expiresAt: '' })
    expect(/<code class="key" id="secret">([^<]+)</.exec(rotated.text)?.[1]).not.toBe(token)
  })

  test('shows what a check of a key set finds', async () => {
    const world = await administered({ jwks: { url: 'http://127.0.0.1:9/keys', audience: 'api' } })
    const checked = await post(world, '/access/jwks/check', { url: 'http://127.0.0.1:9/keys' })
    expect(checked.status).toBe(200)
    expect(checked.text).toContain('The server cannot be reached.')
  })

  test('shows which machine asks to sign the tool in, and approves it', async () => {
    const world = await administered()
    const verifier = 'v'.repeat(43)
    const challenge = createHash('sha256').update(verifier).digest('base64url')
    const tool = world.client({ as: 'token' })
    const { body } = await tool.post<{ userCode: string; handle: string }>('/auth/admin/api/device', {
      challenge,
      client: 'laptop',
    })
    expect(whereTo(await post(world, '/device/lookup', { userCode: 'wrong' }))[1]).toMatch(
      /^\/auth\/admin\/device\?error=/,
    )
    const typed = body.userCode.toLowerCase().replace('-', ' ')
    const found = await post(world, '/device/lookup', { userCode: typed })
    expect(found.text).toContain('<bdi>laptop</bdi>')
    // As the terminal shows it, so that the two can be compared.
    expect(found.text).toContain(`<code>${body.userCode}</code>`)
    const answer = { userCode: body.userCode, approve: 'true', client: 'laptop' }
    expect(whereTo(await post(world, '/device/answer', answer))).toEqual([
      303,
      '/auth/admin/device?done=device_answered&at=device#device',
    ])
    expect((await tool.post('/auth/admin/api/device/token', { handle: body.handle, verifier })).status).toBe(200)
  })

  test('shows the result of a verification of the audit log', async () => {
    const world = await administered()
    expect((await post(world, '/audit/verify')).text).toContain('The audit log is unbroken.')
  })

  test('that needs a recent sign-in is a button that leads to sign-in and back', async () => {
    const { stale, admin, auth } = await administered()
    const action = 'action="/auth/admin/api/tokens"'
    expect((await admin.get('/auth/admin/tokens', eyes)).text).toContain(action)
    const { text } = await stale.get('/auth/admin/tokens', eyes)
    expect(text).not.toContain(action)
    expect(text).toContain('value="/auth/login?redirect&#x3D;%2Fauth%2Fadmin%2Ftokens"')
    const late = await post({ auth, admin: stale }, '/tokens', { name: 'late' })
    expect(late.headers.get('location')).toBe(
      '/auth/admin/tokens?error=recent_login_required&name=late&at=create#create',
    )
  })

  test('of a user who is signed out leads to sign-in and back to the page', async () => {
    const world = await administered()
    await world.admin.signOut()
    const { headers } = await post(world, '/tokens', { name: 'late' })
    expect(headers.get('location')).toMatch(/^\/auth\/login\?redirect=%2Fauth%2Fadmin%2Ftokens/)
  })

  test.each([
    ['another site', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
    ['an opaque origin', { origin: 'null', 'sec-fetch-site': 'cross-site' }],
  ])('ATK-116 from %s changes nothing', async (_, headers) => {
    const world = await administered()
    const refused = await post(world, '/tokens', { name: 'forged' }, headers)
    expect([refused.status, JSON.parse(refused.text).code]).toEqual([403, 'csrf_rejected'])
    const disabled = await post(world, `/users/${world.adminId}/disable`, { reason: 'forged' }, headers)
    expect(disabled.status).toBe(403)
    expect((await world.auth.apiTokens.list()).items).toEqual([])
  })

  test.each(['text/plain', 'multipart/form-data; boundary=x'])('ATK-116 as %s changes nothing', async (type) => {
    const world = await administered()
    const refused = await post(world, '/tokens', { name: 'forged' }, { 'content-type': type })
    expect(refused.status).toBe(415)
    expect((await world.auth.apiTokens.list()).items).toEqual([])
  })
})

describe('ATK-120 hostile text on admin pages', () => {
  const hostile = '<img src=x onerror=alert(1)>{{x}}\u202Egnp.exe'

  test('is text, and its direction ends with it', async () => {
    const world = await administered()
    const { client, auth, admin } = world
    const user = await auth.users.create({
      email: 'eve@example.test',
      name: hostile,
      password: 'a long password of eve',
      emailVerified: true,
    })
    await client({ headers: { 'user-agent': 'Mozilla/5.0 <img src=x onerror=alert(1)> Firefox/140.0' } }).signIn({
      email: user.email,
      password: 'a long password of eve',
    })
    await auth.apiTokens.create({ name: hostile })
    await post(world, `/users/${user.id}/disable`, { reason: hostile })
    for (const path of [
      '',
      '/users',
      `/users/${user.id}`,
      '/sessions',
      '/tokens',
      '/audit',
      `/users?query=${encodeURIComponent(hostile)}`,
    ]) {
      const { status, text } = await admin.get(`/auth/admin${path}`, eyes)
      expect(status, path).toBe(200)
      expect(text, path).not.toContain('<img src=x')
      // Outside of attributes each override stands in an element of its own.
      const outside = text.replaceAll(/="[^"]*"/g, '').replaceAll(/<bdi>[^<]*<\/bdi>/g, '')
      expect(outside, path).not.toContain('\u202E')
    }
    expect((await admin.get('/auth/admin/users', eyes)).text).toContain(
      '&lt;img src&#x3D;x onerror&#x3D;alert(1)&gt;{{x}}',
    )
  })

  test('in the address of a page is never shown as ours', async () => {
    const { admin } = await administered()
    const { text } = await admin.get('/auth/admin/tokens?error=<b>&done=<i>&at=tokens&fields=<u>', eyes)
    expect(text).not.toMatch(/<b>&|<i>|<u>/)
  })
})

describe('ATK-121 the preview of templates', () => {
  test('stands in a frame without scripts, forms and the cookies of this origin', async () => {
    const { admin } = await administered()
    const { text, headers } = await admin.get('/auth/admin/templates?template=pages/account', eyes)
    expect(text).toMatch(/<iframe [^>]*sandbox srcdoc="/)
    expect(text).not.toMatch(/srcdoc="[^"]*&lt;script/)
    expect(headers.get('content-security-policy')).toContain("script-src 'self'; style-src 'self' 'unsafe-inline'")
  })

  test('shows every page and mail in every language', async () => {
    const { admin } = await administered()
    const { body } = await admin.get<{ templates: { kind: string; name: string }[]; locales: string[] }>(
      '/auth/admin/api/templates',
    )
    expect(body.locales).toEqual(['de', 'en', 'es', 'fr', 'ja', 'no'])
    for (const { kind, name } of body.templates) {
      const { status, text } = await admin.get(`/auth/admin/templates?template=${kind}/${name}&locale=ja`, eyes)
      expect(status, name).toBe(200)
      expect(Buffer.byteLength(text), name).toBeLessThan(60_000)
    }
    expect((await admin.get('/auth/admin/templates?template=mail/none', eyes)).status).toBe(404)
    expect((await admin.get('/auth/admin/api/templates/mail/otp?locale=xx')).status).toBe(404)
  })
})
