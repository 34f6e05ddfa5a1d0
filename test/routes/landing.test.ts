import { describe, expect, it } from 'vitest'
import { ada, testAuth } from '../support/auth.js'

const headers = { origin: 'http://localhost:3000', 'content-type': 'application/x-www-form-urlencoded' }

/** Where the form leads to. */
async function postForm(path: string, fields: Record<string, string>): Promise<string | null> {
  const { auth } = await testAuth()
  await auth.users.create({ ...ada, emailVerified: true })
  const body = new URLSearchParams(fields)
  const answer = await auth.fetch(new Request(`http://localhost:3000${path}`, { method: 'POST', headers, body }))
  expect(answer.status).toBe(303)
  return answer.headers.get('location')
}

describe('where a form ends', () => {
  it('ends where it asked to', async () => {
    expect(await postForm('/auth/login', { ...ada, _redirect: '/inbox?page=2' })).toBe('/inbox?page=2')
  })

  it('ends at redirectSuccessUrl when it asked for another site', async () => {
    expect(await postForm('/auth/login', { ...ada, _redirect: 'https://evil.test/' })).toBe('/')
  })

  it('keeps the wish through a failure, and no foreign one', async () => {
    const wrong = { ...ada, password: 'a wrong password' }
    expect(await postForm('/auth/login', { ...wrong, _redirect: '/inbox' })).toBe(
      '/auth/login?redirect=%2Finbox&error=invalid_credentials',
    )
    expect(await postForm('/auth/login', { ...wrong, _redirect: '//evil.test' })).toBe(
      '/auth/login?error=invalid_credentials',
    )
  })
})

describe('a guarded page that somebody opens who is not signed in', () => {
  const navigation = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }

  it('leads to the sign-in page, and back by the path that the browser knows behind a proxy', async () => {
    const { client } = await testAuth({ baseUrl: 'http://localhost:3000/app' })
    const browser = client()
    const answer = await browser.get('/api/notes', { headers: navigation })
    expect([answer.status, answer.headers.get('location')]).toEqual([
      303,
      '/app/auth/login?redirect=%2Fapp%2Fapi%2Fnotes',
    ])
  })

  it.each(['//evil.test/', '/%2Fevil.test', '/a/%5Cevil.test'])(
    'ATK-094 takes %s along to no page, which may be one of the application',
    async (path) => {
      const { auth } = await testAuth({ baseAPIRoutes: '/', redirectFailUrl: '/enter' })
      const answer = await auth.fetch(new Request(`http://localhost:3000${path}`, { headers: navigation }))
      expect([answer.status, answer.headers.get('location')]).toEqual([303, '/enter'])
    },
  )

  it.each([
    ['/enter?from=auth', {}, '/enter?from=auth&redirect=%2Fnotes'],
    ['/', {}, '/'],
    // What a proxy took off the front.
    ['/app', { baseUrl: 'http://localhost:3000/app' }, '/'],
    ['http://127.0.0.1:3000/enter', { trustedOrigins: ['http://127.0.0.1:3000'] }, '/enter'],
  ])('is told so where the sign-in page %s is guarded itself: nobody is led in circles', async (page, more, path) => {
    const { auth } = await testAuth({ baseAPIRoutes: '/', redirectFailUrl: page, ...more })
    const open = (path: string) => auth.fetch(new Request(`http://localhost:3000${path}`, { headers: navigation }))
    expect((await open('/notes')).status).toBe(303)
    const answer = await open(path)
    expect([answer.status, answer.headers.get('location')]).toEqual([401, null])
    expect(await answer.json()).toMatchObject({ code: 'unauthenticated' })
  })

  it.each([
    ['another view', { redirectFailUrl: '/?view=login' }, '/'],
    ['a longer path', { redirectFailUrl: '/enter' }, '/enter/'],
    [
      'the same path elsewhere',
      { redirectFailUrl: 'https://spa.example.test/enter', trustedOrigins: ['https://spa.example.test'] },
      '/enter',
    ],
  ])('leads to the sign-in page from what only resembles it: %s', async (_, settings, path) => {
    const { auth } = await testAuth({ baseAPIRoutes: '/', ...settings })
    const answer = await auth.fetch(new Request(`http://localhost:3000${path}`, { headers: navigation }))
    expect(answer.status).toBe(303)
    expect(answer.headers.get('location')).toContain(settings.redirectFailUrl)
  })

  it('is told so on a page of ours, too, where that is the sign-in page', async () => {
    const { auth } = await testAuth({ redirectFailUrl: '/auth/account' })
    const open = (path: string) => auth.fetch(new Request(`http://localhost:3000${path}`, { headers: navigation }))
    expect((await open('/auth/two-factor/setup')).headers.get('location')).toMatch(/^\/auth\/account\?redirect=/)
    expect((await open('/auth/account')).status).toBe(401)
  })
})
