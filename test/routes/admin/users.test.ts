import { describe, expect, test } from 'vitest'
import { administered } from '../../support/administrators.js'

const grace = { email: 'grace@example.test', password: 'a compiler of plain words' }

describe('mailing the confirmation of an address again', () => {
  test('answers 429 where the mail limit has no room, and nothing was sent', async () => {
    const { auth, admin, mailbox } = await administered({ limits: {} })
    const { id } = await auth.users.create(grace)
    const ask = () => admin.post(`/auth/admin/api/users/${id}/verification`, {})
    for (let count = 0; count < 3; count += 1) {
      expect(await ask()).toMatchObject({ status: 202, body: { status: 'verification_sent' } })
      await mailbox.waitFor(grace.email)
    }
    const refused = await ask()
    expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limited' } })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await auth.audit.list({ userId: id })).items[0]).toMatchObject({
      event: 'verification_requested',
      outcome: 'failure',
      detail: { reason: 'mail_limit' },
    })
  })

  test('answers 200 for an address that is confirmed already, and sends nothing', async () => {
    const { auth, admin, mailbox } = await administered()
    const { id } = await auth.users.create({ ...grace, emailVerified: true })
    const path = `/auth/admin/api/users/${id}/verification`
    expect(await admin.post(path, {})).toMatchObject({ status: 200, body: { status: 'already_verified' } })
    expect(mailbox.mails.filter(({ to }) => to === grace.email)).toEqual([])
    const events = (await auth.audit.list({ userId: id })).items.map(({ event }) => event)
    expect(events).toEqual(['account_created'])
  })
})
