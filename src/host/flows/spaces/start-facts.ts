import { AuthError } from '../../../errors.js'
import type { SpacePorts } from './ports.js'
import { startFault } from './start-fault.js'

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
