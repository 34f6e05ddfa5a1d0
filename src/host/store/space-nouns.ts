import type { Backups, RemovedTokens } from './backups.js'
import type { Claims } from './claims.js'
import type { Environment } from './environment.js'
import type { Generations } from './generations.js'
import type { Releases } from './releases.js'
import type { SandboxMark } from './sandbox-mark.js'
import type { Spaces } from './spaces.js'

/** What the host stores about its spaces. */
export interface SpaceNouns {
  spaces: Spaces
  claims: Claims
  releases: Releases
  environment: Environment
  generations: Generations
  backups: Backups
  removedTokens: RemovedTokens
  sandboxMark: SandboxMark
}
