import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createHostPieces } from '../../../src/host/host-pieces.js'
import { hostAuth } from '../../support/host-auth.js'
import { ann, type ListeningHost, listeningHost, type Shown } from '../../support/listening-host.js'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const ownPages = createHostPieces()
  .routes.filter(({ control }) => control?.page)
  .map(({ path, control }) => (control?.home === 'space' ? path.replace('/admin', '/admin/spaces/:space') : path))
const spacePages = ['/admin/spaces/:space/tokens', '/admin/spaces/:space/jwks', '/admin/spaces/:space/access']
const pages = [...ownPages, ...spacePages].map((path) => path.replace(':space', 'dev').replace(':c', 'notes'))

let host: ListeningHost
beforeAll(async () => {
  host = await listeningHost()
  expect(await send('/spaces', { name: 'dev' })).toBe(
    '/auth/admin/spaces?done=space_created&at=create-space#create-space',
  )
})
afterAll(() => host.close())

const show = (path: string, browser = host.browser) => browser.get(`/auth/admin${path}`)
const post = (path: string, fields: Record<string, string> = {}, browser = host.browser) =>
  browser.post(`/auth/admin/api${path}`, fields)

/** Sends a form; where it leads to. */
async function send(path: string, fields: Record<string, string> = {}): Promise<string> {
  const { status, location } = await post(path, fields)
  expect(status).toBe(303)
  return location
}

/** The actions of the forms on a page, without the one that signs out. */
const actionsOf = ({ text }: Shown) =>
  [...text.matchAll(/action="\/auth\/admin\/api([^"]*)"/g)].map(([, action]) => action)

/** Signs in a user of the project in a browser of their own. */
async function signedIn(email: string, right: string) {
  await send('/project/users', { email, right })
  const browser = host.newBrowser()
  const token = host.mailbox.token(await host.mailbox.waitFor(email))
  await browser.post('/auth/password/reset', { token, password: ann.password })
  await browser.post('/auth/login', { email, password: ann.password })
  return browser
}

test.each(pages)(
  'ATK-126 %s stays out of caches and frames, is small, and asks no other origin for anything',
  async (path) => {
    const { status, headers, text } = await host.browser.get(`/auth${path}`)
    expect(status).toBe(200)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    expect(Buffer.byteLength(text)).toBeLessThan(60_000)
    const urls = [...text.matchAll(/(?:src|action|href)="([^"#]*)"/g)].map(([, url = '']) => url)
    expect(urls.filter((url) => url !== '' && !url.startsWith('/auth/') && url !== '/')).toEqual([])
    const stranger = await host.newBrowser().get(`/auth${path}`)
    expect([stranger.status, stranger.location]).toEqual([
      303,
      `/auth/login?${new URLSearchParams({ redirect: `/auth${path}` })}`,
    ])
  },
)

test('an administrator creates, views and removes a space by forms', async () => {
  expect(await send('/spaces', { name: 'Dev' })).toContain('error=invalid_request&name=Dev&fields=name&at=create-space')
  const refused = await show('/spaces?error=invalid_request&name=Dev&fields=name&at=create-space')
  expect(refused.text).toContain('the first a letter')
  expect(refused.text).toContain('value="Dev"')
  expect(await send('/spaces', { name: 'gone' })).toContain('done=space_created')
  expect((await show('/spaces')).text).toContain(`${host.baseUrl}/gone`)
  expect((await show('/spaces/gone')).text).toContain('Nothing is deployed.')
  const wrong = await send('/spaces/gone', { _method: 'DELETE', confirm: 'dev' })
  expect(wrong).toBe('/auth/admin/spaces/gone?error=invalid_request&fields=confirm&at=remove#remove')
  expect(await send('/spaces/gone', { _method: 'DELETE', confirm: 'gone' })).toBe(
    '/auth/admin/spaces?done=space_removed&at=spaces#spaces',
  )
  expect((await show('/spaces/gone')).status).toBe(404)
})

test('the pages of tokens, key set and allow-list of an application concern the space here', async () => {
  const made = await post('/spaces/dev/tokens', { name: 'reader', access: 'READ' })
  expect(made.status).toBe(200)
  expect(made.text).toContain('href="/auth/admin/spaces/dev/tokens"')
  const tokens = await show('/spaces/dev/tokens')
  expect(tokens.text).toContain('reader')
  expect(actionsOf(tokens).every((action) => action?.startsWith('/spaces/dev/tokens'))).toBe(true)
  const rules = {
    url: 'https://issuer.example/keys',
    issuer: 'https://issuer.example',
    audience: 'api, web',
    algorithms: '',
  }
  expect(await send('/spaces/dev/access/jwks', rules)).toBe(
    '/auth/admin/spaces/dev/jwks?done=jwks_changed&at=jwks#jwks',
  )
  expect((await show('/spaces/dev/jwks')).text).toContain('api, web')
  expect(await send('/spaces/dev/access/networks', { network: 'nonsense' })).toBe(
    '/auth/admin/spaces/dev/access?error=invalid_request&network=nonsense&fields=network&at=networks#networks',
  )
  expect((await show('/tokens')).status).toBe(404)
  expect((await show('/spaces/none/tokens')).status).toBe(404)
})

test('a member sees the spaces and no form, and is led to them', async () => {
  const member = await signedIn('mia@example.test', 'MEMBER')
  const start = await show('', member)
  expect([start.status, start.location]).toEqual([303, '/auth/admin/spaces'])
  for (const path of ['/spaces', '/spaces/dev', '/spaces/dev/releases', '/spaces/dev/jwks', '/spaces/dev/access']) {
    const seen = await show(path, member)
    expect([seen.status, actionsOf(seen)], path).toEqual([200, []])
    expect(seen.text).not.toContain('/auth/admin/users')
    expect(seen.text).not.toContain('/spaces/dev/env')
  }
  for (const path of [
    '/project',
    '/admin-tokens',
    '/spaces/dev/tokens',
    '/spaces/dev/env',
    '/spaces/dev/logs',
    '/spaces/dev/data',
    '/spaces/dev/data/notes',
    '/users',
  ])
    expect((await show(path, member)).status, path).toBe(403)
  expect((await post('/spaces', { name: 'other' }, member)).location).toContain('error=forbidden')
})

test('a member approves the sign-in of the tool for themselves, and gets the rights of a member with it', async () => {
  const member = await signedIn('max@example.test', 'MEMBER')
  const tool = async (path: string, body: Record<string, string>): Promise<Record<string, string>> => {
    const headers = { 'content-type': 'application/json' }
    const url = `${host.adminUrl}/auth/admin/api/device${path}`
    const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
    return JSON.parse(await answer.text())
  }
  const verifier = 'v'.repeat(43)
  const challenge = createHash('sha256').update(verifier).digest('base64url')
  const asked = await tool('', { challenge, client: 'max-laptop' })
  const { handle = '', userCode = '' } = asked
  const page = await show('/device', member)
  expect([page.status, actionsOf(page)]).toEqual([200, ['/device/lookup']])
  const found = await post('/device/lookup', { userCode }, member)
  expect(found.text).toContain('max-laptop')
  expect(actionsOf(found)).toEqual(['/device/answer', '/device/answer'])
  expect((await post('/device/answer', { userCode, approve: 'true' }, member)).location).toContain(
    'done=device_answered',
  )
  const claimed = await tool('/token', { handle, verifier })
  expect(claimed).toMatchObject({ user: { email: 'max@example.test' } })
})

test('users and teams are administered by forms, and tokens that someone leaves are asked about', async () => {
  const bob = await signedIn('bob@example.test', 'ADMIN')
  expect(await send('/teams', { name: 'deployers', right: 'ADMIN' })).toContain('done=team_created')
  const [, team] = /action="\/auth\/admin\/api\/teams\/([\w-]+)\/members"/.exec((await show('/project')).text) ?? []
  expect(await send(`/teams/${team}/members`, { email: 'bob@example.test' })).toContain('done=member_added')
  const made = await post(
    '/admintokens',
    { owner: String(team), name: 'pipeline', spaces: 'dev', commands: 'deploy' },
    bob,
  )
  expect(made.status).toBe(200)
  const [token = ''] = /[0-9a-f]{16}-[0-9a-f]{32}/.exec(made.text) ?? []
  expect(token).not.toBe('')
  const listed = await show('/admin-tokens')
  expect(listed.text).not.toContain(token)
  expect(listed.text).not.toContain('Should these tokens go too?')

  const page = (await show('/project')).text
  const of = page.indexOf('bob@example.test')
  const [, id] = /project\/users\/([\w-]+)"/.exec(page.slice(of)) ?? []
  expect(await send(`/project/users/${id}`, { _method: 'PATCH', right: 'MEMBER' })).toContain('done=right_changed')
  expect(await send(`/project/users/${id}`, { _method: 'DELETE', confirm: 'ann@example.test' })).toContain(
    'fields=confirm',
  )
  const removed = await send(`/project/users/${id}`, { _method: 'DELETE', confirm: 'bob@example.test' })
  expect(removed).toBe('/auth/admin/admin-tokens?done=tokens_left&at=left#left')
  const asked = await show('/admin-tokens?done=tokens_left&at=left')
  expect(asked.text).toContain('Should these tokens go too?')
  expect(asked.text).toContain('These tokens of teams are left.')
  expect(await send(`/admintokens/${token.slice(0, 16)}`, { _method: 'DELETE' })).toContain('done=token_removed')
  expect((await show('/admin-tokens')).text).not.toContain('Should these tokens go too?')
  expect(await send(`/teams/${team}`, { _method: 'DELETE', confirm: 'deployers' })).toContain('done=team_removed')
})

test('the last administrator stays, and the page says why', async () => {
  const page = (await show('/project')).text
  const [, id] = /project\/users\/([\w-]+)"/.exec(page.slice(page.indexOf(`<bdi>${ann.email}</bdi></strong>`))) ?? []
  const refused = await send(`/project/users/${id}`, { _method: 'PATCH', right: 'MEMBER' })
  expect(refused).toContain('error=last_admin')
  expect((await show(refused.slice('/auth/admin'.length))).text).toContain('role="alert"')
})

test('variables are set and removed, and no page shows an encrypted one', async () => {
  expect(await send('/spaces/dev/env', { name: 'SECRET', value: 'hidden one', encrypted: 'true' })).toBe(
    '/auth/admin/spaces/dev/env?done=variable_set&at=variable#variable',
  )
  await send('/spaces/dev/env', { name: 'PLAIN', value: 'first\r\nsecond' })
  const { text } = await show('/spaces/dev/env')
  expect(text).toContain('(encrypted)')
  expect(text).not.toContain('hidden one')
  expect(text).toContain('first\nsecond')
  expect(text).toContain(ann.email)
  const refused = await send('/spaces/dev/env', { name: '1X', value: 'hidden two' })
  expect(refused).toContain('name=1X&fields=name&at=variable')
  expect(refused).not.toContain('hidden')
  expect(await send('/spaces/dev/env/PLAIN', { _method: 'DELETE' })).toContain('done=variable_removed')
  expect((await show('/spaces/dev/env')).text).not.toContain('PLAIN')
})

test('releases are listed, put in force and taken away, and the log is shown by level', async () => {
  expect(await host.deploy('dev', 'prints')).toMatchObject({ done: true, release: 1 })
  expect(await host.deploy('dev', 'friendly')).toMatchObject({ done: true, release: 2 })
  expect(actionsOf(await show('/spaces/dev/releases'))).toContain('/spaces/dev/releases/1/activate')
  expect(await send('/spaces/dev/releases/1/activate')).toBe(
    '/auth/admin/spaces/dev/releases?done=release_activated&at=releases#releases',
  )
  expect(actionsOf(await show('/spaces/dev/releases'))).toContain('/spaces/dev/releases/2/activate')
  expect(await send('/spaces/dev/releases/9/activate')).toContain('error=not_found&at=releases')
  expect((await show('/spaces')).text).toContain('running')

  const log = await show('/spaces/dev/logs')
  expect(log.headers.get('content-security-policy')).toContain("connect-src 'self'")
  expect(log.text).toMatch(/<pre class="log"[^>]*>\d{4}-/)
  const errors = await show('/spaces/dev/logs?level=error')
  expect(errors.text).not.toMatch(/^\S+Z info /m)

  expect(await send('/spaces/dev/releases/current', { _method: 'DELETE', confirm: 'none' })).toContain('fields=confirm')
  expect(await send('/spaces/dev/releases/current', { _method: 'DELETE', confirm: 'dev' })).toContain('done=undeployed')
  expect((await show('/spaces/dev/releases')).text).toContain('Nothing is deployed.')
})

test('a form of a space that needs a recent sign-in leads to sign-in and back to the space', async () => {
  const { client, rights, runtime } = await hostAuth()
  const browser = client()
  const { body } = await browser.signUp({ email: ann.email, password: ann.password })
  rights.set(body.user.id, 'ADMIN')
  const eyes = { headers: { 'sec-fetch-mode': 'navigate', accept: 'text/html' } }
  const page = '/auth/admin/spaces/dev/tokens'
  expect((await browser.get<string>(page, eyes)).text).toContain('action="/auth/admin/api/spaces/dev/tokens"')
  await runtime.clock.advance('11m')
  await browser.refresh()
  const { text } = await browser.get<string>(page, eyes)
  expect(text).not.toContain('action="/auth/admin/api/spaces/dev/tokens"')
  expect(text).toContain(encodeURIComponent(page))
})

test('a backup is downloaded by a link of its page, which lists it afterwards', async () => {
  const empty = await show('/spaces/dev/backup')
  expect(empty.text).toContain('No backup was downloaded yet.')
  const [, link = ''] = /<a class="button small" href="([^"]*)" download>/.exec(empty.text) ?? []
  const answer = await fetch(`${host.adminUrl}${link}`, {
    headers: { cookie: host.browser.cookie(), 'sec-fetch-mode': 'navigate', 'sec-fetch-site': 'same-origin' },
  })
  const archive = Buffer.from(await answer.arrayBuffer())
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/gzip'])
  expect(answer.headers.get('content-disposition')).toMatch(/^attachment; filename="dev-/)
  await expect
    .poll(async () => (await show('/spaces/dev/backup')).text)
    .toContain(createHash('sha256').update(archive).digest('hex'))
  const listed = await show('/spaces/dev/backup')
  expect(listed.text).toContain(ann.email)
  expect(listed.text).toContain('latchkey restore &lt;file&gt; --space dev')
  const member = await signedIn('backup-member@example.test', 'MEMBER')
  expect((await show('/spaces/dev/backup', member)).status).toBe(403)
  expect((await show('/spaces/dev', member)).text).not.toContain('/spaces/dev/backup')
})
