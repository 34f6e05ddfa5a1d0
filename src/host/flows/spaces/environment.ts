import type { ActorEntry } from '../../../contract/actor.js'
import { AuthError } from '../../../errors.js'
import { auditEvent } from '../../../flows/steps/audit.js'
import { isoTime } from '../../../lib/iso-time.js'
import type { Visitor } from '../../../model/visitor.js'
import type { Ports } from '../../../ports.js'
import type { SpaceKey } from '../../ports.js'
import { type MasterKeys, SealingError } from '../../sealing/master-keys.js'
import { reseal, rewrap } from '../../sealing/space-keys.js'
import { variableFaults } from '../../sealing/variables.js'
import type { Environment, SpaceRecord, StoredEnvironment, StoredVariable } from '../../store/spaces.js'
import { toActorEntry } from './actor-entry.js'
import { requireHeld, underClaim } from './claim.js'
import { findJudged, findSpace, visitorIn } from './find-space.js'
import type { SpacePorts } from './ports.js'
import { startFault } from './start-facts.js'

/** A variable as administrators see it. */
interface VariableEntry {
  name: string
  encrypted: boolean
  version: number
  setAt: string
  setBy: ActorEntry | null
  /** Absent when it is encrypted, or does not open. */
  value?: string
}

interface NewVariable {
  name: string
  value: string
  /** No answer ever shows the value. */
  encrypted: boolean
}

/** By name. @throws {AuthError} `space_not_found` */
export async function listVariables(ports: SpacePorts, name: string): Promise<VariableEntry[]> {
  const { id } = await findSpace(ports, name)
  const stored = await readStored(ports, id)
  return stored.variables.map((variable) => ({
    name: variable.name,
    encrypted: variable.encrypted,
    version: variable.version,
    setAt: isoTime(variable.setAt),
    setBy: toActorEntry(variable.setBy),
    ...(variable.encrypted ? {} : plainValue(ports, stored, variable)),
  }))
}

function plainValue({ sealer }: SpacePorts, { key }: StoredEnvironment, variable: StoredVariable): { value?: string } {
  try {
    return { value: sealer.open(key, variable) }
  } catch (error) {
    if (error instanceof SealingError) return {}
    throw error
  }
}

/**
 * Sets a variable, and starts the release in force again with it.
 *
 * @throws {AuthError} `space_not_found`, `invalid_request`, `space_busy`, `not_current`; `store_unavailable` when a master key is
 *   missing; `bundle_invalid` and `application_timeout` when the variable is set, but the application does not start with it
 */
export async function setVariable(
  ports: SpacePorts,
  { space: spaceName, variable, visitor }: { space: string; variable: NewVariable; visitor: Visitor },
): Promise<void> {
  const space = await findJudged(ports, spaceName, visitor)
  const { name, value, encrypted } = variable
  await underClaim(ports, { spaceId: space.id, kind: 'env', by: visitor.actor }, async (claim) => {
    const { key, variables } = await readStored(ports, space.id)
    const names = variables.map((each) => each.name)
    const errors = variableFaults({ name, value }, names, ports.limits.environment)
    if (errors.length > 0) throw new AuthError('invalid_request', { errors })

    const version = (variables.find((each) => each.name === name)?.version ?? 0) + 1
    const sealed = sealValue(ports, key, { name, version, value })
    const stored = { ...sealed, encrypted, setAt: ports.clock.now(), setBy: visitor.actor }
    const detail = { name, encrypted, version }
    const audit = auditEvent(ports, 'env_set', visitorIn(space, visitor), { detail })
    requireHeld(await ports.environment.set(claim, stored, audit))
    await restart(ports, space, 'The variable is set')
  })
}

function sealValue({ sealer }: SpacePorts, key: SpaceKey, variable: Parameters<SpacePorts['sealer']['seal']>[1]) {
  try {
    return sealer.seal(key, variable)
  } catch (error) {
    // The message names a key that is missing, and no value.
    if (error instanceof SealingError) throw new AuthError('store_unavailable', { detail: error.message, cause: error })
    throw error
  }
}

/**
 * Removes a variable, and starts the release in force again without it.
 *
 * @throws {AuthError} as `setVariable`; `not_found` when there is no such variable
 */
export async function removeVariable(
  ports: SpacePorts,
  { space: spaceName, name, visitor }: { space: string; name: string; visitor: Visitor },
): Promise<void> {
  const space = await findJudged(ports, spaceName, visitor)
  await underClaim(ports, { spaceId: space.id, kind: 'env', by: visitor.actor }, async (claim) => {
    const audit = auditEvent(ports, 'env_removed', visitorIn(space, visitor), { detail: { name } })
    const outcome = await ports.environment.remove(claim, name, audit)
    if (outcome === 'absent') throw new AuthError('not_found')
    requireHeld(outcome === 'removed')
    await restart(ports, space, 'The variable is removed')
  })
}

/** The former child goes on with the former environment when the application does not start with the new one. */
async function restart({ spaces, children }: SpacePorts, { id }: SpaceRecord, done: string): Promise<void> {
  const space = await spaces.find(id)
  if (!space || space.release === null) return
  try {
    await children.start(id)
  } catch (error) {
    const fault = startFault(error)
    if (!(fault instanceof AuthError)) throw fault
    const detail = `${done}, but the application does not start with this environment: ${fault.message}`
    throw new AuthError(fault.code, { detail, cause: error })
  }
}

async function readStored({ environment }: Pick<SpacePorts, 'environment'>, id: string): Promise<StoredEnvironment> {
  const stored = await environment.read(id)
  if (!stored) throw new AuthError('space_not_found')
  return stored
}

type RotatePorts = Pick<Ports, 'clock' | 'random'> & { environment: Pick<Environment, 'rewrap' | 'reseal'> }

/**
 * Wraps the data keys of all spaces under the first master key, in one step. `deep` makes new data keys and seals every value
 * again. Until the step and after it, all given keys together open every value.
 *
 * @returns how many spaces changed
 * @throws {AuthError} `space_busy` for `deep` while the environment of a space is being changed
 * @throws {SealingError} `master_key_missing`, `row_changed`; nothing was written
 */
export async function rotateKeys(
  ports: RotatePorts,
  { keys, deep, visitor }: { keys: MasterKeys; deep: boolean; visitor: Visitor },
): Promise<number> {
  const detail = { deep, ...(keys.ids[0] !== undefined && { keyId: keys.ids[0] }) }
  const audit = auditEvent(ports, 'keys_rotated', visitor, { detail })
  if (!deep) return ports.environment.rewrap((rows) => rewrap(keys, rows), audit)
  const outcome = await ports.environment.reseal(({ key, variables }) => reseal(keys, key, variables), audit)
  if ('spaces' in outcome) return outcome.spaces
  throw new AuthError('space_busy', {
    detail: `${outcome.busy.join(', ')}: a change is under way. Try again when it has ended.`,
  })
}
