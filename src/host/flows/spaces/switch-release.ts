import { AuthError } from '../../../errors.js'
import { auditEvent } from '../../../flows/steps/audit.js'
import type { Visitor } from '../../../model/visitor.js'
import type { Claim, SpaceRecord } from '../../store/spaces.js'
import { requireHeld } from './claim.js'
import type { SpacePorts } from './ports.js'
import { settle } from './settle.js'
import { startFault } from './start-facts.js'

/** A part of a deploy or an activation has ended. */
export interface ReleaseStep {
  step: 'uploaded' | 'started' | 'serving'
  /** How long it took. */
  ms: number
}

export type ReportStep = (step: ReleaseStep) => void

export interface Switched {
  /** The number of the release in force. */
  release: number
  warnings: readonly string[]
}

interface Switch {
  space: SpaceRecord
  number: number
  event: 'released' | 'rolled_back'
  visitor: Visitor
}

/**
 * Starts a release beside the running one, and puts it in force when it is healthy. When it is not, the former one goes on.
 *
 * @throws {AuthError} `bundle_invalid`, `application_timeout`, `not_current`
 */
export async function switchRelease(
  ports: SpacePorts,
  claim: Claim,
  wanted: Switch,
  report: ReportStep,
): Promise<Switched> {
  const { space, number } = wanted
  const began = ports.monotonic()
  const { warnings } = await startRelease(ports, claim, wanted)
  const started = ports.monotonic()
  report({ step: 'started', ms: Math.round(started - began) })
  try {
    requireHeld(await ports.releases.putInForce(claim, number, eventOf(ports, wanted)))
  } catch (error) {
    // The new child answers requests already.
    await settle(ports, space, error)
    throw error
  }
  ports.directory.put({ ...space, release: number })
  report({ step: 'serving', ms: Math.round(ports.monotonic() - started) })
  return { release: number, warnings }
}

async function startRelease(ports: SpacePorts, claim: Claim, wanted: Switch) {
  const { space, number } = wanted
  try {
    return await ports.children.start(space.id, number)
  } catch (error) {
    const fault = startFault(error)
    const code = fault instanceof AuthError ? fault.code : 'internal_error'
    const event = eventOf(ports, wanted, code)
    const text = fault instanceof AuthError ? fault.message : 'The host could not start it.'
    // Without this row the release is listed as failed, too, because its start has no outcome.
    const isHeld = await ports.releases.fail(claim, { number, fault: text }, event).catch(() => true)
    await settle(ports, space, isHeld ? undefined : new AuthError('not_current'))
    throw fault
  }
}

function eventOf(ports: SpacePorts, { space, number, event, visitor }: Switch, code?: string) {
  const former = space.release === null ? {} : { former: space.release }
  const failure = code === undefined ? {} : { code }
  return auditEvent(ports, event, visitor, {
    outcome: code === undefined ? 'success' : 'failure',
    detail: { release: number, ...former, ...failure },
  })
}
