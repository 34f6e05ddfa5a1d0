import { describe, expect, onTestFinished, test } from 'vitest'
import { openSqlStore } from '../../../src/store/sql/store.js'
import type { Store } from '../../../src/store/store.js'
import { storeOptions } from '../../support/databases.js'
import { watchedDatabase } from '../../support/watched-database.js'

/** How SQLite runs the last statement of that call. */
async function planOf(call: (store: Store) => Promise<unknown>): Promise<string> {
  let last = ''
  const { database, dialect } = watchedDatabase({
    before: (sql) => {
      last = sql
    },
  })
  const store = await openSqlStore({ ...storeOptions(), database: { kind: 'dialect', dialect } })
  onTestFinished(() => store.close())
  await call(store)
  const values = Array.from(last.matchAll(/\?/g), () => 1)
  const steps = database.prepare<number[], { detail: string }>(`explain query plan ${last}`).all(...values)
  return steps.map(({ detail }) => detail).join('\n')
}

const after = { createdAt: 1_700_000_000, id: 'id' }

describe('a page by cursor is read at its place in the index, however many newer rows there are', () => {
  test.each<[string, (store: Store) => Promise<unknown>]>([
    ['users', ({ users }) => users.list({ query: null, after, limit: 50 })],
    ['users with a role', ({ users }) => users.list({ query: null, role: 'EDITOR', after, limit: 50 })],
    ['users of a search', ({ users }) => users.list({ query: 'ada', after, limit: 50 })],
    ['API tokens', ({ apiTokens }) => apiTokens.list({ after, limit: 50 })],
  ])('%s', async (_name, call) => {
    const plan = await planOf(call)
    expect(plan).toMatch(/^SEARCH latchkey_\w+ USING INDEX \w+ \((?:scope=\? AND )?created_at<\?\)$/)
  })

  test('an API token is found by its digest, whatever scope has it', async () => {
    const plan = await planOf(({ apiTokens }) => apiTokens.findByHash(['k1.x', 'k2.x']))
    expect(plan).toMatch(/^SEARCH latchkey_api_tokens USING INDEX \w+ \(token_hash=\?\)$/)
  })

  test.each<[string, (store: Store) => Promise<unknown>]>([
    ['users', ({ users }) => users.count()],
    ['live sessions', ({ sessions }) => sessions.count(1)],
  ])('%s are counted in an index alone', async (_name, call) => {
    expect(await planOf(call)).toMatch(
      /^(?:SCAN|SEARCH) latchkey_\w+ USING COVERING INDEX \w+(?: \(refresh_expires_at>\?\))?$/,
    )
  })

  test('an address is read by its own index', async () => {
    const plan = await planOf(({ users }) =>
      users.list({ query: null, email: 'ada@example.com', after: null, limit: 50 }),
    )
    expect(plan).toMatch(/^SEARCH latchkey_users USING INDEX \w+ \(email_canonical=\?\)/)
  })
})
