import { Refused } from '../../../store/refused.js'
import type { Steps, Unit } from '../../../store/sql/engine/steps.js'
import type { PeopleStep } from '../rights.js'
import { lockProject, usableAdmins } from './usable-admins.js'

/** A step over rights: the project's row is locked before `run` reads or writes. */
export function projectStep<T>(steps: Steps, run: (unit: Unit) => Promise<T>): Promise<T> {
  return steps.transaction(async (unit) => {
    await lockProject(unit)
    return run(unit)
  })
}

/**
 * The same for a step that may take the right of the last usable administrator away. Then everything is undone, and the
 * answer is `last_admin`. Where there was none before, as in a project that is not set up yet, nothing is kept.
 *
 * @param now Unix seconds
 */
export function keepingAdmin<T>(steps: Steps, now: number, run: (unit: Unit) => Promise<T>): Promise<T | 'last_admin'> {
  return steps.transaction<T | 'last_admin'>(async (unit) => {
    await lockProject(unit)
    const before = await usableAdmins(unit.db, now)
    const answer = await run(unit)
    const after = await usableAdmins(unit.db, now)
    if (before.length > 0 && after.length === 0) throw new Refused()
    return answer
  }, 'last_admin')
}

/** The last writes of a step over rights. The change row's subject is what changed: a user's or a team's id. */
export async function recordRight(unit: Unit, subject: string, { audit, until }: PeopleStep): Promise<void> {
  unit.audit(audit)
  unit.change('right', [subject], until)
}

/** Unix seconds of a step. */
export function timeOf({ audit }: PeopleStep): number {
  return Math.floor(audit.atMs / 1000)
}
