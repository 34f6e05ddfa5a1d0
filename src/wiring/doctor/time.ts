import { judgeSkew } from '../../model/doctor/clock-skew.js'
import type { Outcome, Topic } from '../../model/doctor/report.js'
import { type DoctorContext, defineCheck, withStore } from './context.js'

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
