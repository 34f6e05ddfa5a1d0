import { auditEvent } from '../../../flows/steps/audit.js'
import { systemVisitor } from '../../../model/visitor.js'
import type { Ports } from '../../../ports.js'
import type { PrintedLine } from '../../ports.js'
import type { Spaces } from '../../store/spaces.js'

export type CrashPorts = Pick<Ports, 'audit' | 'clock' | 'random'> & { spaces: Pick<Spaces, 'find'> }

/** Of what the application printed last. */
const mostCharacters = 8_000

/** The application of a space crashed too often, so that the host starts it again at long intervals only. */
export async function recordCrash(
  ports: CrashPorts,
  spaceId: string,
  lastLines: readonly PrintedLine[],
): Promise<void> {
  const found = await ports.spaces.find(spaceId)
  if (found === null) return
  const space = { id: found.id, name: found.name }
  const log = lastLines.map(({ text }) => text).join('\n')
  const detail = { log: log.slice(-mostCharacters) }
  const visitor = { ...systemVisitor, space }
  await ports.audit.record(auditEvent(ports, 'space_crashed', visitor, { outcome: 'failure', detail }))
}
