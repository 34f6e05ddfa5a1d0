import { expect, test } from 'vitest'
import { administered, administrator } from '../../support/administrators.js'

const api = '/auth/admin/api'
const second = { email: 'second@example.test', password: 'a compiler of plain words' }
const settings = { admin: { emails: [administrator.email, second.email], twoFactor: false } }

async function twoAdministrators() {
  const world = await administered(settings)
  const other = world.client()
  const { id } = (await other.signUp(second)).body.user
  return { ...world, other, otherId: id }
}

test('ATK-239 of two administrators who demand a reset of each other at once, or disable, exactly one remains', async () => {
  const steps = [
    ['reset-password', {}],
    ['disable', { reason: 'left' }],
  ] as const
  for (const [first, firstBody] of steps) {
    for (const [last, lastBody] of steps) {
      const { admin, adminId, other, otherId, auth } = await twoAdministrators()
      const answers = await Promise.all([
        admin.post(`${api}/users/${otherId}/${first}`, firstBody),
        other.post(`${api}/users/${adminId}/${last}`, lastBody),
      ])
      const isDone = answers.map(({ status }) => status < 300)
      expect([first, last, isDone.filter((each) => each)]).toEqual([first, last, [true]])
      const [winner, loser] = isDone[0] ? [admin, other] : [other, admin]
      expect((await winner.get(api)).status).toBe(200)
      expect((await loser.get(api)).status).toBe(401)
      expect(await auth.users.get(isDone[0] ? adminId : otherId)).toMatchObject({ disabledAt: null })
    }
  }
})

test('ATK-239 the last administrator takes no address that would end the role, and another one only where it is proved', async () => {
  const spare = 'spare@example.test'
  const { admin, adminId, auth, client, mailbox } = await administered({
    admin: { emails: [administrator.email, spare], twoFactor: false },
  })
  const asked = async (newEmail: string) => {
    await admin.post('/auth/email/change', { newEmail, password: administrator.password })
    return mailbox.token(await mailbox.waitFor(newEmail))
  }
  const refused = { status: 409, body: { code: 'would_lock_out' } }
  expect(await admin.post('/auth/email/confirm', { token: await asked('private@example.test') })).toMatchObject(refused)
  const token = await asked(spare)
  expect(await client().post('/auth/email/confirm', { token })).toMatchObject(refused)
  expect(await auth.users.get(adminId)).toMatchObject({ email: administrator.email })
  expect((await admin.post('/auth/email/confirm', { token })).status).toBe(200)
  expect((await admin.get(api)).body).toMatchObject({ user: { email: spare } })
})
