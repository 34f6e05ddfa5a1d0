import type { Kysely, Selectable, UpdateQueryBuilder, UpdateResult } from 'kysely'
import { gathered } from '../../lib/gather.js'
import type { CounterHit, CounterRule, Hit } from '../../model/counter.js'
import {
  anyFullUntil,
  endOfFirst,
  expiresAt,
  firstHit,
  firstRow,
  fullUntil,
  isOver,
  nextHit,
} from '../counter-windows.js'
import type { Counters } from '../counters.js'
import { Refused, unavailable } from '../refused.js'
import { type Batches, mostTogether } from './engine/batches.js'
import { isUniqueViolation, untilHeldUp, wasHeldUp } from './engine/retry.js'
import type { CountersTable, Tables } from './engine/schema.js'
import type { Steps } from './engine/steps.js'

/** Rounds. A counter changes its state (new, over, full) only a few times, so a call rarely loses more than one round. */
const rounds = 10

export function createCounters(steps: Steps): Counters {
  const { batches } = steps.flavour
  const hitAtOnce = batches && atOnce(steps, batches)

  return {
    async hit(id, rule, now) {
      const counted = hitAtOnce && isPlain(rule) ? await hitAtOnce({ id, rule, now }) : null
      return counted ?? steps.step((db) => hit(db, id, rule, now))
    },

    hitTogether: (hits, now) => hitTogether(steps, hits, now),

    async forget(ids) {
      if (ids.length === 0) return
      await steps.step((db) => db.deleteFrom('latchkey_counters').where('id', 'in', ids).execute())
    },

    async prune(now, count) {
      const ids = await steps.step((db) => findExpired(db, now, count))
      if (ids.length === 0) return 0
      // Read again, because a hit may have come since.
      const { numDeletedRows } = await steps.step((db) =>
        db
          .deleteFrom('latchkey_counters')
          .where('id', 'in', ids)
          .where('expires_at', '<=', now)
          .executeTakeFirstOrThrow(),
      )
      return Number(numDeletedRows)
    },
  }
}

async function findExpired(db: Kysely<Tables>, now: number, count: number): Promise<string[]> {
  const rows = await db
    .selectFrom('latchkey_counters')
    .select('id')
    .where('expires_at', '<=', now)
    .orderBy('expires_at')
    .limit(count)
    .execute()
  return rows.map(({ id }) => id)
}

/** A rule with one window and no wait, as for the requests of a client address. */
function isPlain({ waitSeconds, long }: CounterRule): boolean {
  return waitSeconds === undefined && long === undefined
}

interface PendingHit {
  id: string
  rule: CounterRule
  now: number
}

/** Hits that one statement can count: they have the same rule and the same time. */
function groupOf({ rule: { limit, windowSeconds }, now }: PendingHit): string {
  return `${limit}/${windowSeconds}/${now}`
}

/** Does the same as below in one statement, which several calls may share. Null if the counter is full; nothing is written then. */
function atOnce(steps: Steps, batches: Batches): (pendingHit: PendingHit) => Promise<Hit | null> {
  if (!steps.gathers) return async (pendingHit) => (await hitAll(steps, batches, [pendingHit]))[0] ?? null
  return gathered({
    group: groupOf,
    key: ({ id }) => id,
    run: (pendingHits) => hitAll(steps, batches, pendingHits),
    divides: wasHeldUp,
    most: mostTogether,
  })
}

async function hitAll(
  steps: Steps,
  batches: Batches,
  pendingHits: readonly PendingHit[],
): Promise<readonly (Hit | null)[]> {
  const [first] = pendingHits
  if (!first) return []
  const { rule, now } = first
  const ids = pendingHits.map(({ id }) => id)
  const rows = await steps.step((db) => untilHeldUp(ids.length, batches.hit(db, ids, rule, now)))
  const counted = new Map(rows.map((row) => [row.id, row]))
  return ids.map((id) => {
    const row = counted.get(id)
    if (!row) return null
    return { counted: true, remaining: Math.max(rule.limit - Number(row.hits), 0), resetsAt: Number(row.ends_at) }
  })
}

/**
 * Reads the counter, then writes on the condition that its state (new, over, or with room) is still the same. The write
 * decides. If the state has changed, the call reads again.
 */
async function hit(db: Kysely<Tables>, id: string, rule: CounterRule, now: number): Promise<Hit> {
  for (let round = 0; round < rounds; round += 1) {
    const row = await db.selectFrom('latchkey_counters').selectAll().where('id', '=', id).executeTakeFirst()
    if (!row) {
      if (await begin(db, id, rule, now)) return firstHit(rule, now)
      continue
    }
    const full = fullUntil(row, rule, now)
    if (full !== null) return { counted: false, remaining: 0, resetsAt: full }
    if (await count(db, row, rule, now)) return nextHit(row, rule, now)
  }
  throw new Error('A counter did not come to rest.')
}

/** As `hit`, for several counters: one transaction of conditional writes, which is rolled back if one of them is refused. */
async function hitTogether(steps: Steps, hits: readonly CounterHit[], now: number): Promise<number | null> {
  const ids = hits.map(({ id }) => id)
  for (let round = 0; round < rounds; round += 1) {
    const rows = await steps.step((db) =>
      db.selectFrom('latchkey_counters').selectAll().where('id', 'in', ids).execute(),
    )
    const found = hits.map((hit) => ({ ...hit, row: rows.find(({ id }) => id === hit.id) ?? null }))
    const full = anyFullUntil(found, now)
    if (full !== null) return full
    if (await steps.transaction(({ db }) => countEach(db, found, now), false)) return null
  }
  throw unavailable(new Error('The counters did not come to rest.'))
}

/** @throws {Refused} when another call has changed the state of a counter since it was read */
async function countEach(
  db: Kysely<Tables>,
  found: readonly (CounterHit & { row: CounterRow | null })[],
  now: number,
): Promise<true> {
  for (const { id, rule, row } of found) {
    const counted = row ? await count(db, row, rule, now) : await begin(db, id, rule, now)
    if (!counted) throw new Refused()
  }
  return true
}

async function begin(db: Kysely<Tables>, id: string, rule: CounterRule, now: number): Promise<boolean> {
  try {
    await db
      .insertInto('latchkey_counters')
      .values(firstRow(id, rule, now))
      .execute()
    return true
  } catch (error) {
    if (isUniqueViolation(error)) return false
    throw error
  }
}

async function count(db: Kysely<Tables>, row: CounterRow, rule: CounterRule, now: number): Promise<boolean> {
  const counted = countShort(db.updateTable('latchkey_counters').where('id', '=', row.id), row, rule, now)
  const inBoth = rule.long ? countLong(counted, row, rule.long, now) : counted
  const { numUpdatedRows } = await inBoth.set({ expires_at: expiresAt(rule, now) }).executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

type CounterRow = Selectable<CountersTable>
type CounterUpdate = UpdateQueryBuilder<Tables, 'latchkey_counters', 'latchkey_counters', UpdateResult>

function countShort(update: CounterUpdate, row: CounterRow, rule: CounterRule, now: number): CounterUpdate {
  if (isOver(row.ends_at, now)) {
    return update.set({ ends_at: endOfFirst(rule, now), hits: 1 }).where('ends_at', '<=', now)
  }
  const { waitSeconds } = rule
  const closing =
    waitSeconds === undefined
      ? update
      : // Before `hits` is raised: MySQL assigns from left to right, and later expressions see the assigned values.
        update.set((eb) => ({
          ends_at: eb
            .case()
            .when('hits', '>=', rule.limit - 1)
            .then(now + waitSeconds)
            .else(eb.ref('ends_at'))
            .end(),
        }))
  return closing
    .set((eb) => ({ hits: eb('hits', '+', 1) }))
    .where('ends_at', '>', now)
    .where('hits', '<', rule.limit)
}

function countLong(
  update: CounterUpdate,
  row: CounterRow,
  long: NonNullable<CounterRule['long']>,
  now: number,
): CounterUpdate {
  if (isOver(row.long_ends_at, now)) {
    return update.set({ long_hits: 1, long_ends_at: now + long.windowSeconds }).where('long_ends_at', '<=', now)
  }
  return update
    .set((eb) => ({ long_hits: eb('long_hits', '+', 1) }))
    .where('long_ends_at', '>', now)
    .where('long_hits', '<', long.limit)
}
