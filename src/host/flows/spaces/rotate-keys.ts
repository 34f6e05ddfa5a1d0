import { AuthError } from '../../../errors.js'
import { auditEvent } from '../../../flows/steps/audit.js'
import type { Visitor } from '../../../model/visitor.js'
import type { Ports } from '../../../ports.js'
import type { MasterKeys } from '../../sealing/master-keys.js'
import { reseal, rewrap } from '../../sealing/rotation.js'
import type { Environment } from '../../store/environment.js'

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
