import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { openSqlStore } from '../../src/store/sql/store.js'
import { keptApiToken } from '../contracts/store/api-tokens.js'
import { anEvent, createdUser, now, openedSession, until } from '../contracts/store/rows.js'
import { storeOptions } from '../support/databases.js'
import { createDatabase, type ServerKind, type TestDatabase } from '../support/servers.js'

async function opened(kind: ServerKind) {
  const database = await createDatabase(kind)
  const options = { ...storeOptions({ sleep: pause }), database }
  const [store, second] = [await openSqlStore(options), await openSqlStore(options)]
  onTestFinished(async () => {
    await Promise.all([store.close(), second.close()])
    await database.close()
  })
  return { store, second, database }
}

/** Another process, which stands still in the middle of a transaction that has this row. */
async function holdRow({ query }: TestDatabase, from: string): Promise<() => Promise<unknown>> {
  await query('begin')
  await query(`select id from ${from} for update`)
  return () => query('rollback')
}

/** Less than a statement waits for a row, so that who waits is not given up before. */
const patience = { timeout: 1_500, interval: 20 }

describe.each<ServerKind>(['postgres', 'mysql'])('on %s', (kind) => {
  test('a use of an API token that waits for its row keeps no other token from being removed', async () => {
    const { store, second, database } = await opened(kind)
    const [swift, held] = [await keptApiToken(store), await keptApiToken(store, { id: 'zz-held' })]
    const release = await holdRow(database, `latchkey_api_tokens where id = '${held.id}'`)
    const touching = store.apiTokens.touch([
      { id: swift.id, at: now + 1 },
      { id: held.id, at: now + 2 },
    ])
    const used = async ({ tokenHash }: typeof swift) => (await second.apiTokens.findByHash([tokenHash]))?.lastUsedAt
    await vi.waitFor(async () => expect(await used(swift)).toBe(now + 1), patience).finally(release)
    await touching
    expect(await used(held)).toBe(now + 2)
    expect(await second.apiTokens.remove(swift.id, { until, audit: anEvent() })).toBe(true)
  })
})

test('on mysql, a proof that waits for its row keeps few other sessions from being refreshed', async () => {
  const { store, second, database } = await opened('mysql')
  const user = await createdUser(store)
  const swift = await openedSession(store, user, { id: 'aa-swift' })
  const held = await openedSession(store, user, { id: 'zz-held' })
  const release = await holdRow(database, `latchkey_sessions where id = '${held.id}'`)
  const gone = Array.from({ length: 20 }, (_, index) => `gone-${index}`)
  const proving = store.sessions.prove(
    [held.id, ...gone, swift.id].map((sessionId) => ({ sessionId, counter: 0, ageMs: 0 })),
  )
  const proven = async (id: string) => (await second.sessions.find(id))?.session.provenAtMs
  await vi.waitFor(async () => expect(await proven(swift.id)).not.toBeNull(), patience).finally(release)
  await proving
  expect(await proven(held.id)).not.toBeNull()
})
