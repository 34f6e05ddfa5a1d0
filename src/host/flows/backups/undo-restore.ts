import { AuthError } from '../../../errors.js'
import { auditEvent } from '../../../flows/steps/audit.js'
import type { Visitor } from '../../../model/visitor.js'
import { underClaim } from '../spaces/claim.js'
import { findJudged, readClaimed, visitorIn } from '../spaces/find-space.js'
import { withFaults } from '../spaces/store-faults.js'
import type { BackupPorts } from './ports.js'
import { startAgain, switchGeneration, versionsAfter } from './switch-generation.js'

/**
 * Puts the data in force again that the last restore, or the last undo, has replaced. What was in force until now is kept for the
 * next undo. Code and settings stay.
 *
 * @throws {AuthError} `space_not_found`, `space_busy`, `not_found` when nothing is kept, `not_current`, `quota_exceeded`,
 *   `store_unavailable`; `bundle_invalid` and `application_timeout` when the application does not start
 */
export async function undoRestore(
  ports: BackupPorts,
  { space: name, visitor }: { space: string; visitor: Visitor },
): Promise<void> {
  const { id } = await findJudged(ports, name, visitor)
  await underClaim(ports, { spaceId: id, kind: 'restore', by: visitor.actor }, async (claim) => {
    const space = await readClaimed(ports, claim)
    const known = await ports.generations.read(id)
    if (known === null || known.former === null || !known.isFormerKept) throw nothingKept()
    const { former } = known
    await withFaults(async () => {
      const above = await versionsAfter(ports, space, Math.max(space.generation, former))
      await ports.data.raiseVersions(id, former, above)
    })
    const detail = { generation: former, former: space.generation }
    const audit = auditEvent(ports, 'restored', visitorIn(space, visitor), { detail })
    await switchGeneration(ports, claim, { space, to: former, isDraft: false, audit, onFailed: async () => {} })
    await startAgain(ports, space, 'The former data is in force')
  })
}

function nothingKept(): AuthError {
  const detail = 'Nothing can be undone: the data before a restore is kept for 24 hours.'
  return new AuthError('not_found', { detail })
}
