import { AuthError } from '../../../errors.js'
import { auditEvent } from '../../../flows/steps/audit.js'
import { systemVisitor } from '../../../model/visitor.js'
import type { Ports } from '../../../ports.js'
import type { PrintedLine } from '../../ports.js'
import { SealingError } from '../../sealing/master-keys.js'
import type { Spaces } from '../../store/spaces.js'
import type { SpacePorts } from './ports.js'

/** What a child is started with, as it is stored at this moment. */
export interface StartFacts {
  spaceId: string
  /** Of the space. */
  name: string
  generation: number
  /** The number of the release. */
  release: number
  /** SHA-256 of `bundle.mjs`, hexadecimal. */
  hash: string
  releaseFolder: string
  temporaryFolder: string
  /** Opened. */
  env: Readonly<Record<string, string>>
}

/**
 * Read at each start, so that release and environment are those of now.
 *
 * @param number a release that is not in force yet; default: the one in force
 * @throws {AuthError} `space_not_found`, also when nothing is deployed; `bundle_invalid` when a variable does not open
 */
export async function readStartFacts(
  ports: Pick<SpacePorts, 'spaces' | 'releases' | 'environment' | 'sealer' | 'files'>,
  spaceId: string,
  number?: number,
): Promise<StartFacts> {
  const space = await ports.spaces.find(spaceId)
  const wanted = number ?? space?.release ?? null
  const release = wanted === null ? null : await ports.releases.find(spaceId, wanted)
  if (!space || !release) throw new AuthError('space_not_found')
  return {
    spaceId,
    name: space.name,
    generation: space.generation,
    release: release.number,
    hash: release.sha256,
    releaseFolder: ports.files.release(spaceId, release.number),
    temporaryFolder: ports.files.temporary(spaceId),
    env: await openEnvironment(ports, spaceId),
  }
}

async function openEnvironment(
  { environment, sealer }: Pick<SpacePorts, 'environment' | 'sealer'>,
  spaceId: string,
): Promise<Record<string, string>> {
  const stored = await environment.read(spaceId)
  if (!stored) throw new AuthError('space_not_found')
  try {
    return Object.fromEntries(stored.variables.map((variable) => [variable.name, sealer.open(stored.key, variable)]))
  } catch (error) {
    throw startFault(error)
  }
}

type CrashPorts = Pick<Ports, 'audit' | 'clock' | 'random'> & { spaces: Pick<Spaces, 'find'> }

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

/** A variable that does not open stops the start as a faulty bundle does. The message names it, and no value. */
export function startFault(error: unknown): unknown {
  if (!(error instanceof SealingError)) return error
  return new AuthError('bundle_invalid', { detail: error.message, cause: error })
}

/** Whether the application or its environment is at fault, and not the host. */
export function isOfApplication(error: unknown): boolean {
  const fault = startFault(error)
  return fault instanceof AuthError && (fault.code === 'bundle_invalid' || fault.code === 'application_timeout')
}
