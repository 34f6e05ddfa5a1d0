import { expect, test } from 'vitest'
import { ada, testAuth } from '../support/auth.js'

test('a hook that does not come to an end is hook_failed after 5 s, and nobody is signed in', async () => {
  let reached = () => {}
  const isReached = new Promise<void>((resolve) => {
    reached = resolve
  })
  let hangs = false
  const beforeLogin = () => {
    if (!hangs) return
    reached()
    return new Promise<void>(() => {})
  }
  const { auth, client, runtime } = await testAuth({ hooks: { beforeLogin } })
  const { body } = await client().signUp(ada)
  hangs = true

  const answer = client().post('/auth/login', ada)
  await isReached
  await runtime.clock.advance('5s')
  expect((await answer).body).toMatchObject({ status: 503, code: 'hook_failed' })
  expect((await auth.sessions.list(body.user.id)).items).toHaveLength(1)
})
