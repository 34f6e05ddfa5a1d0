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
