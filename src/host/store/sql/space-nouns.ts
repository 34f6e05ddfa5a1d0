import type { Steps } from '../../../store/sql/engine/steps.js'
import type { SpaceNouns } from '../space-nouns.js'
import { createBackups, createRemovedTokens } from './backups.js'
import { createClaims } from './claims.js'
import { createEnvironment } from './environment.js'
import { createGenerations } from './generations.js'
import { createReleases } from './releases.js'
import { createSandboxMark } from './sandbox-mark.js'
import { createSpaces } from './spaces.js'

/** Over the tables of the migrations 0002 to 0005. */
export function createSpaceNouns(steps: Steps): SpaceNouns {
  return {
    spaces: createSpaces(steps),
    claims: createClaims(steps),
    releases: createReleases(steps),
    environment: createEnvironment(steps),
    generations: createGenerations(steps),
    backups: createBackups(steps),
    removedTokens: createRemovedTokens(steps),
    sandboxMark: createSandboxMark(steps),
  }
}
