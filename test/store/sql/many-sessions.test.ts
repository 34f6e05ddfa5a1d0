import { expect, onTestFinished, test } from 'vitest'
import { type AttackServer, ada, attackServer } from '../../support/attack-server.js'

/** Signs in once, and writes that session 6,000 times: as many as no statement can name. */
async function crowd(server: AttackServer): Promise<string> {
  const { body } = await server.client().signUp(ada)
  const copied = server
    .sql<{ name: string }>(
      "select name from pragma_table_info('latchkey_sessions') where name not in ('id', 'ordinal')",
    )
    .map(({ name }) => name)
    .join()
  server.sql(
    `insert into latchkey_sessions (id, ordinal, ${copied})
     with recursive n(i) as (select 1 union all select i + 1 from n where i < 6000)
     select 'copy' || i, i, ${copied} from n, latchkey_sessions`,
  )
  return body.user.id
}

test('all sessions end at once, also where one statement could not name them', async () => {
  const server = await attackServer({ file: true, settings: { maxSessions: 10_000 } })
  onTestFinished(() => server.close())
  expect(await server.auth.sessions.revokeAll(await crowd(server))).toBe(6_001)
  expect(server.sql('select count(*) as ended from latchkey_changes')).toEqual([{ ended: 6_001 }])
})

test('a sign-in under a lower limit ends what is beyond it, however much that is', async () => {
  const server = await attackServer({ file: true, settings: { maxSessions: 10 } })
  onTestFinished(() => server.close())
  const userId = await crowd(server)
  await server.client().signIn(ada)
  expect((await server.auth.sessions.list(userId)).items).toHaveLength(10)
})
