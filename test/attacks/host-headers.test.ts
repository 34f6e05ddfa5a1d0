import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type AttackServer, attackServer } from '../support/attack-server.js'
import { readVectors } from '../support/vectors.js'

const { host_header_cases: cases } = readVectors<{ host_header_cases: { send: string[] }[] }>('header-injection')
const origin = 'https://app.example.test'
/** What stands in the lying headers, and nowhere in an address of ours. */
const lies = /evil|javascript:|alert\(|:8443|app\.example\.test[.:@?\\]/i

let server: AttackServer
beforeAll(async () => {
  server = await attackServer({ settings: { baseUrl: origin, brand: { name: 'Notes' } } })
})
afterAll(() => server.close())

/** The request with the lying lines in place of an honest `Host`; an absolute form takes the place of the path. */
function lying(send: readonly string[], method: string, path: string, { type, body }: { type: string; body: string }) {
  const absolute = send.find((line) => line.startsWith('(absolute-form)'))
  const target = absolute ? `https://evil.test${path}` : path
  const lines = send.filter((line) => line !== absolute)
  const own = [`content-type: ${type}`, `content-length: ${Buffer.byteLength(body)}`, 'connection: close']
  return `${method} ${target} HTTP/1.1\r\n${[...lines, ...own].join('\r\n')}\r\n\r\n${body}`
}

describe('ATK-043 a request that lies about its host', () => {
  it.each(cases.map(({ send }, index) => [send.join(', '), send, index] as const))(
    'ATK-043 puts nothing of «%s» into a mail, a redirect, a page or a cookie',
    async (_name, send, index) => {
      const email = `victim${index}@example.test`
      await server.auth.users.create({ email, password: 'correct horse battery', emailVerified: true })
      await server.runtime.clock.advance('2m')

      const json = { type: 'application/json', body: JSON.stringify({ email }) }
      const asked = await server.raw(lying(send, 'POST', '/auth/password/forgot', json))
      // Node itself refuses some of these before anybody reads them; within others an address would begin its path.
      expect([202, 400, 401]).toContain(asked.status)
      if (asked.status === 202) {
        const mail = await server.mailbox.waitFor(email)
        expect(server.mailbox.link(mail)).toMatch(new RegExp(`^${origin}/auth/reset\\?token=[\\w-]+$`))
        expect([mail.subject, mail.text, mail.html].join('\n')).not.toMatch(lies)
      }

      const form = { type: 'application/x-www-form-urlencoded', body: 'email=nobody%40example.test' }
      const from = [...send, `origin: ${origin}`, `cookie: access-token=x`]
      const answers = [
        asked,
        await server.raw(lying(from, 'POST', '/auth/password/forgot', form)),
        await server.raw(lying(from, 'POST', '/auth/logout', { ...form, body: '' })),
        await server.raw(lying(send, 'GET', '/auth/forgot', { ...json, body: '' })),
        await server.raw(lying(send, 'GET', '/api/secret', { ...json, body: '' })),
      ]
      for (const { status, headers, text } of answers) {
        expect(status).toBeLessThan(500)
        expect(`${[...headers].join('\n')}\n${text}`).not.toMatch(lies)
        expect(headers.get('location') ?? '/').toMatch(/^\/(?!\/)|^https:\/\/app\.example\.test\//)
      }
    },
  )

  it('ATK-043 was believed to be honest by node in most of these cases, so that they tell something', () => {
    expect(server.mailbox.mails.length).toBeGreaterThan(cases.length / 2)
  })
})
