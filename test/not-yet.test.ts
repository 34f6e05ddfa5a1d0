import { describe, expect, it } from 'vitest'
import { ada, testAuth } from './support/auth.js'

describe('settings that this release cannot keep', () => {
  it('are said in the log', async () => {
    const lines: unknown[] = []
    const logger = { warn: (fields: object) => lines.push(fields), error: (fields: object) => lines.push(fields) }
    await testAuth({ logger, admin: { emails: [ada.email] } })
    expect(lines).toContainEqual({ event: 'setting_ignored', setting: 'admin.emails' })
  })
})

describe('hooks', () => {
  it('may refuse a registration or a sign-in, and fail closed when they break', async () => {
    const { client } = await testAuth({
      hooks: {
        beforeLogin({ user, method }) {
          if (method === 'password' && user.email === ada.email) throw new TypeError('broken')
        },
      },
    })
    const browser = client()
    await browser.signUp(ada)
    const answer = await client().post('/auth/login', ada)
    expect(answer).toMatchObject({ status: 503, body: { code: 'hook_failed' } })
    expect(answer.text).not.toContain('broken')
  })
})
