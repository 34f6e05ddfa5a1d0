import type { Kysely, Sql } from 'kysely'
import type { CounterRule } from '../../../model/counter.js'
import { endOfFirst, expiresAt } from '../../counter-windows.js'
import type { Proof, Rotation } from '../../sessions.js'
import type { CountersTable, Tables } from './schema.js'
import { type StateRow, stateColumns } from './session-rows.js'

/** The most calls that share a statement, so that a locked row or a broken connection affects no more of them. */
export const mostTogether = 100

/** Steps on many rows in one statement, for databases that support it. Each row is decided separately. */
export interface Batches {
  /** Writes proofs, as `Sessions.prove` does. */
  prove(db: Kysely<Tables>, proofs: readonly Proof[]): Promise<void>
  /** Raises counters of sessions, as `Sessions.rotate` does. Returns the raised ones. No session may occur twice. */
  rotate(db: Kysely<Tables>, rotations: readonly Rotation[]): Promise<readonly StateRow[]>
  /** Counts a hit in each plain counter that has room. Returns those counters. No counter may occur twice. */
  hit(
    db: Kysely<Tables>,
    ids: readonly string[],
    rule: CounterRule,
    now: number,
  ): Promise<readonly Pick<CountersTable, 'id' | 'hits' | 'ends_at'>[]>
}

/**
 * PostgreSQL: parameters are lists, so that the statement has the same text for any number of rows and is planned once. Rows
 * have the same order everywhere, so that two batches seldom wait for each other. If they deadlock, one is retried.
 */
export function postgresBatches(sql: Sql): Batches {
  // clock_timestamp, because now() returns the start of the transaction.
  const serverMs = sql`extract(epoch from clock_timestamp()) * 1000`
  const ofUser = sql.raw(stateColumns.join(', '))
  return {
    async prove(db, proofs) {
      const ordered = inOrder(proofs)
      const counters = ordered.map(({ counter }) => counter)
      const ages = ordered.map(({ ageMs }) => Math.max(0, Math.floor(ageMs)))
      await sql`
        update latchkey_sessions as s
        set proven_at_ms = case
              when s.counter = p.counter and s.proven_at_ms is null then floor(${serverMs} - p.age_ms)::bigint
              else s.proven_at_ms end,
            last_seen_at = greatest(s.last_seen_at, floor((${serverMs} - p.age_ms) / 1000)::bigint)
        from unnest(${idsOf(ordered)}::text[], ${counters}::bigint[], ${ages}::bigint[]) as p (id, counter, age_ms)
        where s.id = p.id`.execute(db)
    },

    async rotate(db, rotations) {
      const ordered = inOrder(rotations)
      const [users, modes] = [ordered.map(({ userId }) => userId), ordered.map(({ mode }) => mode)]
      const [counters, nows] = [ordered.map(({ counter }) => counter), ordered.map(({ now }) => now)]
      const [issued, ends] = [ordered.map(({ issuedAt }) => issuedAt), ordered.map(({ expiresAt }) => expiresAt)]
      const proven = ordered.map(({ provenForMs }) => provenForMs)
      const { rows } = await sql<StateRow>`
        update latchkey_sessions as s
        set counter = s.counter + 1, proven_at_ms = null, refresh_issued_at = p.issued_at,
            refresh_expires_at = least(s.expires_at, p.expires_at)
        from unnest(${idsOf(ordered)}::text[], ${users}::text[], ${modes}::text[], ${counters}::bigint[],
               ${issued}::bigint[], ${ends}::bigint[], ${proven}::bigint[], ${nows}::bigint[])
               as p (id, user_id, mode, counter, issued_at, expires_at, proven_for_ms, now_at),
             latchkey_users
        where s.id = p.id and s.user_id = p.user_id and s.mode = p.mode and s.counter = p.counter
          and s.expires_at > p.now_at and s.refresh_expires_at > p.now_at
          and (s.counter = 0 or s.proven_at_ms <= ${serverMs} - p.proven_for_ms)
          and latchkey_users.id = s.user_id
          and (latchkey_users.disabled_at is null or latchkey_users.disabled_until <= p.now_at)
        returning s.*, ${ofUser}, floor(${serverMs})::bigint as store_now_ms`.execute(db)
      return rows
    },

    async hit(db, ids, rule, now) {
      const [ends, expires] = [endOfFirst(rule, now), expiresAt(rule, now)]
      const { rows } = await sql<Pick<CountersTable, 'id' | 'hits' | 'ends_at'>>`
        insert into latchkey_counters as c (id, hits, ends_at, long_hits, long_ends_at, expires_at)
        select p.id, 1, ${ends}::bigint, 0, 0, ${expires}::bigint from unnest(${[...ids].sort()}::text[]) as p (id)
        on conflict (id) do update
        set hits = case when c.ends_at <= ${now}::bigint then 1 else c.hits + 1 end,
            ends_at = case when c.ends_at <= ${now}::bigint then excluded.ends_at else c.ends_at end,
            expires_at = excluded.expires_at
        where c.ends_at <= ${now}::bigint or c.hits < ${rule.limit}::bigint
        returning c.id, c.hits, c.ends_at`.execute(db)
      return rows
    },
  }
}

function inOrder<Item extends { sessionId: string }>(items: readonly Item[]): Item[] {
  return [...items].sort((a, b) => (a.sessionId < b.sessionId ? -1 : 1))
}

function idsOf(items: readonly { sessionId: string }[]): string[] {
  return items.map(({ sessionId }) => sessionId)
}
