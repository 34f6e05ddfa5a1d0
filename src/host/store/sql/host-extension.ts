import type { Steps } from '../../../store/sql/engine/steps.js'
import type { StoreExtension } from '../../../store/sql/store.js'
import type { HostNouns } from '../host-nouns.js'
import type { PeopleNouns } from '../people.js'
import type { SpaceNouns } from '../spaces.js'
import { adminTokenKeys, createAdminTokens, pruneAdminTokens } from './admin-tokens.js'
import { createClaims } from './claims.js'
import { createEnvironment } from './environment.js'
import { createFirstAdmin } from './first-admin.js'
import { createBackups, createGenerations, createRemovedTokens } from './generations.js'
import { addPeople } from './migrations/0001-people.js'
import { addSpaces } from './migrations/0002-spaces.js'
import { addBackups } from './migrations/0003-backups.js'
import { addClaimHolders } from './migrations/0004-claims.js'
import { addSandbox } from './migrations/0005-sandbox.js'
import { createReleases } from './releases.js'
import { createRights, isLastByRight } from './rights.js'
import { createSandboxMark, createSpaces } from './spaces.js'
import { createTeams } from './teams.js'

/** What the people of a project add to the database of the host's accounts. */
export const peopleExtension = {
  migrations: { '0001-people': addPeople },
  isLastAdmin: isLastByRight,
  keysInUse: adminTokenKeys,
  pruneTokens: pruneAdminTokens,
  nouns: (steps: Steps): PeopleNouns => ({
    projectRights: createRights(steps),
    teams: createTeams(steps),
    projectTokens: createAdminTokens(steps),
  }),
}

/** What the host adds to the database of its accounts. */
export const hostExtension: StoreExtension<HostNouns> = {
  migrations: {
    ...peopleExtension.migrations,
    '0002-spaces': addSpaces,
    '0003-backups': addBackups,
    '0004-claims': addClaimHolders,
    '0005-sandbox': addSandbox,
  },
  migrationsTable: 'latchkey_host_migrations',
  isLastAdmin: peopleExtension.isLastAdmin,
  keysInUse: peopleExtension.keysInUse,
  pruneTokens: peopleExtension.pruneTokens,
  nouns: (steps) => ({
    ...peopleExtension.nouns(steps),
    ...createSpaceNouns(steps),
    firstAdmin: createFirstAdmin(steps),
  }),
}

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
