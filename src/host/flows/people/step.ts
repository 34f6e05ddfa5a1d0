import { AuthError } from '../../../errors.js'
import { type AuditFacts, auditEvent } from '../../../flows/steps/audit.js'
import { adminTokenMemorySeconds } from '../../../model/admin-token.js'
import type { AuditEventName } from '../../../model/audit-event.js'
import type { Visitor } from '../../../model/visitor.js'
import type { Ports } from '../../../ports.js'
import type { PeopleStep } from '../../store/people.js'
import type { Spaces } from '../../store/spaces.js'
import type { SpaceNames } from './ports.js'

export type StepPorts = Pick<Ports, 'clock' | 'random'>

/** The largest expected difference between the clocks of two processes. */
const clockMarginSeconds = 120

/** The event of a change, and until when a process may remember what was before. */
export function peopleStep(
  ports: StepPorts,
  event: AuditEventName,
  visitor: Visitor,
  facts: Pick<AuditFacts, 'userId' | 'detail'>,
): PeopleStep {
  const until = ports.clock.now() + adminTokenMemorySeconds + clockMarginSeconds
  return { until, audit: auditEvent(ports, event, visitor, facts) }
}

type Done = 'granted' | 'changed' | 'same' | 'removed' | 'created' | 'added'

/** @throws {AuthError} `last_admin`, `already_exists`, and `not_found` for null */
export function requireDone(outcome: Done | 'last_admin' | 'taken' | 'other' | null): Done {
  if (outcome === null) throw new AuthError('not_found')
  if (outcome === 'last_admin') throw new AuthError('last_admin')
  if (outcome === 'taken' || outcome === 'other') throw new AuthError('already_exists')
  return outcome
}

/** The names of spaces, read from the store. */
export function namesOver(spaces: Pick<Spaces, 'find' | 'findByName'>): SpaceNames {
  const pairs = async (found: Promise<{ id: string; name: string } | null>[]) =>
    (await Promise.all(found)).filter((space) => space !== null)
  return {
    idsOf: async (names) =>
      new Map((await pairs(names.map((name) => spaces.findByName(name)))).map(({ id, name }) => [name, id])),
    namesOf: async (ids) => new Map((await pairs(ids.map((id) => spaces.find(id)))).map(({ id, name }) => [id, name])),
  }
}
