import { expect, test } from 'vitest'
import { administered } from '../../support/administrators.js'

const path = '/auth/admin/api/access/networks'

test('only the last entry of the allow-list needs a confirmation to go', async () => {
  const { auth, admin } = await administered()
  await auth.access.allow('127.0.0.0/8')
  await auth.access.allow('192.0.2.7')
  expect((await admin.delete(path, { network: '192.0.2.7' })).status).toBe(204)
  for (const confirm of [undefined, '', '127.0.0.1']) {
    const refused = await admin.delete(path, {
      network: '127.0.0.0/8',
      force: true,
      ...(confirm !== undefined && { confirm }),
    })
    expect(refused).toMatchObject({ status: 409, body: { code: 'would_lock_out' } })
  }
  expect((await admin.delete(path, { network: '127.0.0.0/8', confirm: 'everyone' })).status).toBe(204)
})

test('a change that excludes the own address needs force, and that address as confirmation', async () => {
  const { admin } = await administered()
  const add = (more: object) => admin.post(path, { network: '192.0.2.7', ...more })
  for (const more of [{}, { force: true }, { confirm: '127.0.0.1' }, { force: true, confirm: 'everyone' }]) {
    expect(await add(more)).toMatchObject({ status: 409, body: { code: 'would_lock_out' } })
  }
  // The answer still shows the list, though the next request from here is refused.
  expect(await add({ force: true, confirm: '127.0.0.1' })).toMatchObject({
    status: 200,
    body: { allowList: { added: ['192.0.2.7'] }, you: { ip: '127.0.0.1', allowed: false } },
  })
})
