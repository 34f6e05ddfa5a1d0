import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { LatchkeySettings } from '../../../src/index.js'
import { ada, temporaryFolder } from '../../support/auth.js'
import { loginOptions, withPasskey } from '../../support/passkey-browser.js'
import { createPersistentDatastore } from '../../support/persistent-datastore.js'
import { startPostgres } from '../../support/pglite.js'
import { startTelemetry } from '../../support/telemetry.js'

const stores: Readonly<Record<string, () => Promise<LatchkeySettings['database']>>> = {
  SQLite: async () => `sqlite:${join(temporaryFolder(), 'latchkey.db')}`,
  async PostgreSQL() {
    const postgres = await startPostgres()
    onTestFinished(() => postgres.close())
    return postgres.dialect()
  },
  async 'a Datastore'() {
    const datastore = createPersistentDatastore({ file: join(temporaryFolder(), 'datastore.db') })
    onTestFinished(() => datastore.close())
    return datastore
  },
}

describe.each(Object.entries(stores))('on %s', (_, database) => {
  it('of twenty uses of one response, one gets a session, and a passkey is removed once', async () => {
    const { client, browser, device, passkey } = await withPasskey({ database: await database() })
    const phone = client()
    const response = device.sign(await loginOptions(phone))
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => phone.copy().post('/auth/passkeys/login', { response })),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    const { body } = await browser.get<{ sessions: unknown[] }>('/auth/sessions')
    expect(body.sessions).toHaveLength(2)
    const path = `/auth/passkeys/${passkey.id}`
    const removals = await Promise.all([1, 2, 3].map(() => browser.copy().delete(path, { password: ada.password })))
    expect(removals.filter(({ status }) => status === 204)).toHaveLength(1)
  }, 60_000)
})

it('a sign-in takes three steps of the store up to its session', async () => {
  const exported = startTelemetry()
  const { client, device } = await withPasskey()
  const phone = client()
  const response = device.sign(await loginOptions(phone))
  const before = exported.spans.length
  expect((await phone.post('/auth/passkeys/login', { response })).status).toBe(200)
  const names = exported.spans.slice(before).map(({ attributes }) => attributes['db.operation.name'])
  const steps = names.filter((name) => typeof name === 'string')
  expect(steps).toEqual(['oneTimeTokens.claim', 'passkeys.find', 'sessions.open', 'devices.add'])
})
