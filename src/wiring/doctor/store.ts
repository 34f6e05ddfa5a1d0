import { judgeSkew } from '../../model/doctor/clock-skew.js'
import type { Outcome, Topic } from '../../model/doctor/report.js'
import { type DoctorContext, defineCheck, once, withStore } from './context.js'

const reads = 20
const slowMs = 50

export function storeChecks(context: DoctorContext): Topic {
  const migrations = once(context.migrations)
  return [
    defineCheck('store_unreachable', () => judgeReach(context)),
    defineCheck('schema_behind', async () => {
      const { pending, applied } = await migrations()
      if (pending.length === 0) return null
      const missing = applied.length === 0 ? 'The tables do not exist yet.' : 'Migrations are pending.'
      return { finding: `${missing} To run: ${pending.map(({ name }) => name).join(', ')}.` }
    }),
    defineCheck('schema_ahead', async () => {
      const unknown = (await migrations()).applied.filter(({ known }) => !known)
      if (unknown.length === 0) return null
      return { finding: `Migrations that this release does not know: ${unknown.map(({ name }) => name).join(', ')}.` }
    }),
    defineCheck('store_slow', () => measure(context)),
  ]
}

async function judgeReach({ reach }: DoctorContext): Promise<Outcome> {
  try {
    await reach()
    return null
  } catch (error) {
    return { finding: reasonOf(error) }
  }
}

/** Faults that begin with the setting are our own sentences. Those of a driver may hold an address or a password. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'The database does not answer.'
  if (error.message.startsWith('database: ')) return error.message
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name
  return `The database does not answer (${code}).`
}

function measure(context: DoctorContext): Promise<Outcome> {
  const { monotonic } = context.world
  return withStore(context, async ({ changes }) => {
    const times: number[] = []
    for (let read = 0; read < reads; read += 1) {
      const startedAtMs = monotonic()
      await changes.recent(0)
      times.push(monotonic() - startedAtMs)
    }
    const [median = 0] = times.toSorted((one, other) => one - other).slice(reads / 2)
    return median > slowMs ? { finding: `The median of ${reads} reads is ${Math.round(median)} ms.` } : null
  })
}

export function redisChecks({ settings, random }: DoctorContext): Topic {
  const { redis } = settings
  const probed = once(async () => {
    if (redis === null) return null
    // ioredis is optional, so its code loads only where it is used.
    const { probeRedis } = await import('../../store/redis/probe.js')
    return probeRedis(redis, random)
  })
  return [
    defineCheck('redis_unreachable', async () => {
      const found = await probed()
      if (found === null) return noRedis
      return found.fault === null ? null : { finding: `${found.place} cannot be used: ${found.fault}.` }
    }),
    defineCheck('redis_evicts', async () => {
      const found = await probed()
      if (found === null) return noRedis
      if (found.policy === null) return { skipped: 'Redis does not show its maxmemory-policy.' }
      return found.policy === 'noeviction'
        ? null
        : { finding: `The maxmemory-policy of ${found.place} is ${found.policy}.` }
    }),
  ]
}

const noRedis = { skipped: 'The setting redis is not given.' }

export function timeChecks(context: DoctorContext): Topic {
  return [
    defineCheck('feed_stale', () => judgeFeed(context)),
    defineCheck('clock_skew', () => compareWithStore(context)),
  ]
}

function judgeFeed({ feedAgeMs, settings }: DoctorContext): Outcome {
  const ageMs = feedAgeMs()
  const { stalenessSeconds } = settings.revocation
  if (ageMs !== null && ageMs <= (stalenessSeconds * 1000) / 2) return null
  const state = ageMs === null ? 'has not been read' : `was read ${Math.round(ageMs / 1000)} seconds ago`
  return { finding: `The change feed ${state}. The limit is ${stalenessSeconds} seconds.` }
}

function compareWithStore(context: DoctorContext): Promise<Outcome> | Outcome {
  const { world, settings } = context
  const { kind } = settings.database
  if (kind === 'sqlite' || kind === 'datastore') return { skipped: 'This database has no clock of its own.' }
  return withStore(context, async ({ changes }) => {
    const beforeMs = world.now()
    const { storeNowMs } = await changes.recent(0)
    // The store read its clock at some moment in between.
    const ownMs = Math.min(Math.max(storeNowMs, beforeMs), world.now())
    return judgeSkew('the database', storeNowMs - ownMs)
  })
}
