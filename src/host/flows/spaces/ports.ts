import type { ActorEntry } from '../../../contract/actor.js'
import type { World } from '../../../lib/runtime.js'
import type { ReleaseLimits } from '../../../model/release.js'
import type { Ports } from '../../../ports.js'
import type { OpenSpaceDirectory } from '../../front/directory.js'
import type { Children, Sealer, SpaceFiles } from '../../ports.js'
import type { VariableLimits } from '../../sealing/variables.js'
import type { SpaceNouns } from '../../store/spaces.js'
import type { Uploads } from './uploads.js'

/** What flows about spaces may reach. */
export interface SpacePorts extends SpaceNouns, Pick<Ports, 'clock' | 'random'> {
  children: Children
  files: SpaceFiles
  sealer: Sealer
  directory: Pick<OpenSpaceDirectory, 'put' | 'remove'>
  uploads: Uploads
  /** Who that is, for administrators: an address, or the name of an admin token. */
  nameOf(actor: ActorEntry): Promise<string>
  /** For leases, and for what is tried again. */
  timer: World['timer']
  /** Milliseconds of a clock that never goes back. */
  monotonic: World['monotonic']
  /** The origin and path of all spaces, without a slash at the end. */
  baseUrl: string
  limits: SpaceLimits
}

export interface SpaceLimits {
  release: ReleaseLimits
  /** How many releases of a space are kept. */
  releases: number
  environment: VariableLimits
}
