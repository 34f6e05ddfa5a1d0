import { describe, expect, it } from 'vitest'
import { ada, testAuth } from '../support/auth.js'

const sentence = 'Your browser did not keep the cookie'
const navigate = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document', 'sec-fetch-site': 'same-origin' }

async function scene() {
  const world = await testAuth({ redirectSuccessUrl: '/api/home' })
  await world.auth.users.create({ ...ada, emailVerified: true })
  const origin = 'http://localhost:3000'
  /** A browser that keeps no cookie: posts a form and follows where it leads. */
  async function submit(path: string, fields: Record<string, string>) {
    const send = (request: Request) => world.auth.fetch(request, { ip: '127.0.0.1' })
    const headers = { ...navigate, origin }
    const body = new URLSearchParams(fields)
    let answer = await send(new Request(`${origin}${path}`, { method: 'POST', headers, body }))
    const visited: string[] = []
    while (answer.status === 303 && visited.length < 5) {
      const location = answer.headers.get('location') ?? ''
      visited.push(location)
      answer = await send(new Request(new URL(location, origin), { headers: navigate }))
    }
    return { visited, status: answer.status, text: await answer.text() }
  }
  return { ...world, submit }
}

describe('a browser that refuses cookies', () => {
  it('is told so after a sign-in, instead of being shown the form again', async () => {
    const { submit } = await scene()
    const { visited, text } = await submit('/auth/login', { ...ada, _redirect: '/api/notes' })
    expect(visited).toEqual([expect.stringMatching(/^\/auth\/login\?redirect=%2Fapi%2Fnotes&cookie=\d+\.[\w.-]{52}$/)])
    expect(text).toContain(sentence)
    expect(text).toContain('name="_redirect" value="/api/notes"')
  })

  it('is not told so by an address that was made up, has expired, or was meant for another client', async () => {
    const { submit, auth, runtime } = await scene()
    const address = (await submit('/auth/login', ada)).visited[0] ?? ''
    const open = async (path: string, ip: string, agent?: string) => {
      const headers = { ...navigate, ...(agent && { 'user-agent': agent }) }
      return (await auth.fetch(new Request(`http://localhost:3000${path}`, { headers }), { ip })).text()
    }
    expect(await open(address, '127.0.0.1')).toContain(sentence)
    for (const made of ['1', '', '1.1', address.replace(/^.*cookie=/, '').replace(/^\d/, '2')])
      expect(await open(`/auth/login?cookie=${made}`, '127.0.0.1')).not.toContain(sentence)
    expect(await open(address, '127.0.0.2')).not.toContain(sentence)
    expect(await open(address, '127.0.0.1', 'another browser')).not.toContain(sentence)
    await runtime.clock.advance('61s')
    expect(await open(address, '127.0.0.1')).not.toContain(sentence)
  })

  it('is told so where a code by mail was asked for', async () => {
    const { submit } = await scene()
    const { visited, text } = await submit('/auth/otp', { email: ada.email })
    expect(visited).toEqual([expect.stringMatching(/^\/auth\/otp\?cookie=/)])
    expect(text).toContain(sentence)
    expect(text).toContain('name="email"')
  })
})

describe('a browser that keeps cookies', () => {
  it('is led on where it was asked to, by one more step at the first sign-in only', async () => {
    const { client, auth } = await scene()
    const browser = client()
    const done = await browser.submit('/auth/login', { ...ada, _redirect: '/api/notes' })
    expect(done.url.pathname + done.url.search).toBe('/api/notes')
    expect(done.text).not.toContain(sentence)
    await browser.submit('/auth/logout', {})
    const again = await auth.fetch(
      new Request('http://localhost:3000/auth/login', {
        method: 'POST',
        headers: {
          ...navigate,
          origin: 'http://localhost:3000',
          cookie: `known-device=${browser.cookies.get('known-device')}`,
        },
        body: new URLSearchParams(ada),
      }),
      { ip: '127.0.0.1' },
    )
    expect(again.headers.get('location')).toBe('/api/home')
  })

  it('gets a clean address after it asked for a code', async () => {
    const { client } = await scene()
    const { url, text } = await client().submit('/auth/otp', { email: ada.email, _redirect: '/inbox' })
    expect(url.pathname + url.search).toBe('/auth/otp?redirect=%2Finbox')
    expect(text).toContain('name="code"')
  })
})

it('a form that is posted without fetch metadata is answered as ever', async () => {
  const { auth } = await scene()
  const body = new URLSearchParams(ada)
  const headers = { origin: 'http://localhost:3000' }
  const request = new Request('http://localhost:3000/auth/login', { method: 'POST', headers, body })
  const answer = await auth.fetch(request, { ip: '127.0.0.1' })
  expect(answer.headers.get('location')).toBe('/api/home')
})

it('a session that is there shows no such sentence, whatever the address says', async () => {
  const { submit, client } = await scene()
  const address = (await submit('/auth/login', ada)).visited[0] ?? ''
  const browser = client()
  await browser.signIn(ada)
  expect((await browser.get(address)).headers.get('location')).toBe('/api/home')
})
