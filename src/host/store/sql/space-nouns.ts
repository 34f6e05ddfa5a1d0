import type { Steps } from '../../../store/sql/engine/steps.js'
import type { SpaceNouns } from '../space-nouns.js'
import { createClaims } from './claims.js'
import { createEnvironment } from './environment.js'
import { createReleases } from './releases.js'
import { createSpaces } from './spaces.js'

/** Over the tables of migration 0002. */
export function createSpaceNouns(steps: Steps): SpaceNouns {
  return {
    spaces: createSpaces(steps),
    claims: createClaims(steps),
    releases: createReleases(steps),
    environment: createEnvironment(steps),
  }
}
