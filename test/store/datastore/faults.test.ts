import { describe, expect, onTestFinished, test } from 'vitest'
import type { Store } from '../../../src/store/store.js'
import { anEvent } from '../../contracts/store/rows.js'
import { longSteps } from '../../support/datastore-steps.js'
import { createDatastoreBed, type Platform } from '../../support/datastores.js'

/** So short that the walk over every call takes seconds. */
const timing = { holdMs: 400, leaseMs: 500, patienceMs: 10_000, callMs: 5_000 }
/** Where a call is waited for that nobody answers. */
const unanswered = { ...timing, callMs: 1_000 }
/** Of a process whose lock nobody takes over: however slow the machine is, it finishes. */
const patient = { ...timing, holdMs: 60_000 }

/** What happens at the n-th call of the platform that the step makes. */
type Fault = 'refused' | 'refused after it has happened' | 'refused from then on' | 'never answered from then on'

/** Counts the calls since it was armed, and makes one of them fail. */
function createFaults(): { platform: Platform; arm(at: number, fault: Fault | null): void; calls(): number } {
  let [at, calls] = [0, 0]
  let fault: Fault | null = null
  const never = () => new Promise<void>(() => {})
  return {
    platform: {
      before(name) {
        calls += 1
        if (fault === 'refused' && calls === at) return Promise.reject(`${name} is out of order`)
        if (fault === 'refused from then on' && calls >= at) return Promise.reject({ error: 'no connection' })
        return fault === 'never answered from then on' && calls >= at ? never() : Promise.resolve()
      },
      after: (name) =>
        fault === 'refused after it has happened' && calls === at
          ? Promise.reject(new Error(`${name} was lost`))
          : Promise.resolve(),
    },
    arm(number, kind) {
      calls = 0
      at = number
      fault = kind
    },
    calls: () => calls,
  }
}

interface Trial {
  /** `unavailable`, or what the step answered. */
  answer: unknown
  happened: boolean[]
  calls: number
  /** Another process, which sees it all afterwards. */
  other: Store
}

/** One step with one fault, and what another process sees then. */
async function attempt(name: string, at: number, fault: Fault | null): Promise<Trial> {
  const faults = createFaults()
  const bed = await createDatastoreBed()
  onTestFinished(() => {
    faults.arm(0, null)
    return bed.close()
  })
  const disturbed = fault === 'never answered from then on' ? unanswered : timing
  const store = await bed.open(faults.platform, { timing: fault === null ? patient : disturbed })
  const other = await bed.open({}, { timing: patient })
  const prepared = await longSteps[name]?.prepare(other)
  if (!prepared) throw new Error(`no step ${name}`)
  faults.arm(at, fault)
  const answer = await prepared.step(store).catch((error: unknown) => {
    expect(error).toMatchObject({ code: 'store_unavailable' })
    return 'unavailable'
  })
  const calls = faults.calls()
  // Whoever writes next makes whole what was decided.
  await other.audit.record(anEvent())
  return { answer, happened: await prepared.happened(other), calls, other }
}

describe.each(Object.keys(longSteps))('%s', (name) => {
  test.each<Fault>(['refused', 'refused after it has happened', 'refused from then on', 'never answered from then on'])(
    'has happened whole or not at all, whichever call is %s',
    { timeout: 120_000 },
    async (fault) => {
      const undisturbed = await attempt(name, 0, null)
      expect(undisturbed.happened).toEqual(undisturbed.happened.map(() => true))
      const seen = { whole: 0, nothing: 0 }
      const calls = Array.from({ length: undisturbed.calls }, (_, index) => index + 1)
      await sideBySide(calls, async (at) => {
        const { answer, happened, other } = await attempt(name, at, fault)
        const whole = happened.every(Boolean)
        expect({ at, happened }).toEqual({ at, happened: happened.map(() => whole) })
        // What was answered has happened; what was refused may have.
        if (answer !== 'unavailable') expect({ at, whole }).toEqual({ at, whole: true })
        expect(await other.audit.verify()).toEqual({ ok: true, brokenAt: null })
        seen[whole ? 'whole' : 'nothing'] += 1
      })
      // Both sides of the call that decides were tried.
      expect(seen.whole).toBeGreaterThan(0)
      if (fault !== 'refused after it has happened') expect(seen.nothing).toBeGreaterThan(0)
    },
  )
})

/** Most of a trial is waiting. */
async function sideBySide<T>(items: readonly T[], run: (item: T) => Promise<void>): Promise<void> {
  const rest = [...items]
  const work = async () => {
    for (let item = rest.shift(); item !== undefined; item = rest.shift()) await run(item)
  }
  await Promise.all(Array.from({ length: 5 }, work))
}
