import { AuthError } from '../../errors.js'
import { isoTime } from '../../lib/iso-time.js'
import { late, within } from '../../lib/runtime.js'
import {
  type Asker,
  type Check,
  type CheckResult,
  type Doctor,
  type DoctorReport,
  type Topic,
  toResults,
} from '../../model/doctor/report.js'
import type { Ports } from '../../ports.js'

/** A run asks mail server, DNS and other hosts. Readers in between get the run before. */
const runEveryMs = 60_000
const checkLimitMs = 5_000
const runLimitMs = 30_000

/**
 * Runs the checks of the server, at most once a minute. All readers of one minute share one run, so a page that is reloaded
 * a hundred times asks no host a hundred times (ASVS 5.0, 15.2.2). Rejects where the checks cannot be loaded; the next
 * reader tries again.
 */
export function runDoctor({ doctor, clock }: Pick<Ports, 'doctor' | 'clock'>, asker: Asker): Promise<DoctorReport> {
  const startedAtMs = clock.monotonicMs()
  const last = doctor.last()
  if (last !== null && startedAtMs - last.startedAtMs < runEveryMs) return last.report
  const report = doctor.topics(asker).then((topics) => examine(topics, { timer: doctor.timer, clock }))
  const run = { startedAtMs, report }
  doctor.keep(run)
  report.catch(() => {
    if (doctor.last() === run) doctor.keep(null)
  })
  return report
}

/** The report of the last run; null before the first run has finished. Runs nothing. */
export async function lastReport({ doctor }: Pick<Ports, 'doctor'>): Promise<DoctorReport | null> {
  const last = doctor.last()
  return last === null ? null : Promise.race([last.report, Promise.resolve(null)])
}

/** Topics run side by side, the checks of a topic one after another: they share what they ask. */
export async function examine(
  topics: readonly Topic[],
  { timer, clock }: { timer: Doctor['timer']; clock: Pick<Ports['clock'], 'now' | 'monotonicMs'> },
): Promise<DoctorReport> {
  const checkedAt = isoTime(clock.now())
  const endsAtMs = clock.monotonicMs() + runLimitMs
  const results = await Promise.all(
    topics.map(async (checks) => {
      const found: CheckResult[] = []
      for (const check of checks) {
        const leftMs = Math.min(checkLimitMs, endsAtMs - clock.monotonicMs())
        found.push(...(await runCheck(check, timer, leftMs)))
      }
      return found
    }),
  )
  return { checkedAt, checks: results.flat() }
}

async function runCheck({ code, row, check }: Check, timer: Doctor['timer'], leftMs: number): Promise<CheckResult[]> {
  if (leftMs <= 0) return toResults(code, row, { skipped: 'The checks before it took 30 seconds.' })
  try {
    const outcome = await within(timer, leftMs, Promise.resolve().then(check))
    return toResults(code, row, outcome === late ? { skipped: 'It took longer than 5 seconds.' } : outcome)
  } catch (error) {
    if (error instanceof AuthError && error.code === 'store_unavailable') {
      return toResults(code, row, { skipped: 'The database does not answer.' })
    }
    // The text of a foreign error may hold an address or a secret.
    return toResults(code, row, { skipped: `It failed: ${error instanceof Error ? error.name : 'unknown error'}.` })
  }
}
