import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { testSettings } from '../../../src/testing.js'
import { readApplication } from '../../../src/wiring/for-tool.js'

async function opened() {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-'))
  const { limits: _, ...settings } = testSettings({ database: `sqlite:${join(folder, 'latchkey.db')}` })
  const application = readApplication({ ...settings, password: { checkBreached: false } }, 'ann')
  await application.migrate()
  const { calls, close } = await application.open()
  onTestFinished(async () => {
    await close()
    await rm(folder, { recursive: true })
  })
  return calls
}

test('the local tool refuses what is not there, as the control API does, and records nothing', async () => {
  const calls = await opened()
  const { id } = await calls.createUser({ email: 'grace@example.test', invite: false })
  const before = (await calls.listAudit({})).items.length
  for (const refused of [
    () => calls.endUserSessions('unknown'),
    () => calls.removeApiToken('unknown'),
    () => calls.removeTwoFactor('unknown'),
    () => calls.removeTwoFactor(id),
    () => calls.enableUser('unknown'),
    () => calls.deleteUser('unknown', 'grace@example.test'),
  ]) {
    await expect(refused()).rejects.toMatchObject({ code: 'not_found' })
  }
  await calls.endUserSessions(id)
  expect(await calls.enableUser(id)).toMatchObject({ id, disabledAt: null })
  const events = (await calls.listAudit({})).items.map(({ event }) => event)
  expect(events.filter((event) => event !== 'audit_read')).toHaveLength(before)
})

test('the local tool invites a user, or creates the account alone', async () => {
  const calls = await opened()
  await calls.createUser({ email: 'ada@example.test', invite: true, roles: ['EDITOR'] })
  await calls.createUser({ email: 'bob@example.test', invite: false, name: 'Bob' })
  const created = (await calls.listAudit({ event: 'account_created' })).items.map(({ detail }) => detail)
  expect(created).toEqual([{}, { invited: true }])
})
