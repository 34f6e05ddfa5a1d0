import { expect, test } from 'vitest'
import { listAccounts } from '../../../src/flows/control/find-accounts.js'
import { createdUser } from '../../contracts/store/rows.js'
import { controlWorld } from '../../support/control-world.js'

test('the role ADMIN finds the accounts that have proved an address of admin.emails, whatever roles are stored', async () => {
  const emails = ['ada@example.test', 'bob@example.test', 'dan@example.test', 'gone@example.test']
  const { store, ports } = await controlWorld(emails)
  const proved = { emailVerified: true, verifiedBy: 'mailbox' } as const
  const ada = await createdUser(store, { emailCanonical: 'ada@example.test', ...proved, roles: [] })
  await createdUser(store, { emailCanonical: 'bob@example.test', emailVerified: false, roles: ['ADMIN'] })
  await createdUser(store, { emailCanonical: 'eve@example.test', ...proved, roles: ['ADMIN'] })
  await createdUser(store, { emailCanonical: 'dan@example.test', emailVerified: true, verifiedBy: null })
  const found = async (filter: Parameters<typeof listAccounts>[1]) =>
    (await listAccounts(ports, filter)).items.map(({ id }) => id)
  expect(await found({ role: 'ADMIN' })).toEqual([ada.id])
  expect(await found({ role: 'ADMIN', query: 'ada@example.test' })).toEqual([ada.id])
  expect(await found({ role: 'ADMIN', query: 'eve@example.test' })).toEqual([])
  expect(await found({ role: 'ADMIN', state: 'disabled' })).toEqual([])
})
