import type { Steps } from '../../../store/sql/engine/steps.js'
import type { MigrationSteps } from '../../../store/sql/migrations/migration.js'
import type { PeopleNouns } from '../people.js'
import { adminTokenKeys, createAdminTokens, pruneAdminTokens } from './admin-tokens.js'
import { addPeople } from './migrations/0001-people.js'
import { createRights } from './rights.js'
import { createTeams } from './teams.js'
import { isLastByRight } from './usable-admins.js'

const migrations: MigrationSteps = { '0001-people': addPeople }

/** What the people of a project add to the database of the host's accounts. */
export const peopleExtension = {
  migrations,
  isLastAdmin: isLastByRight,
  keysInUse: adminTokenKeys,
  pruneTokens: pruneAdminTokens,
  nouns: (steps: Steps): PeopleNouns => ({
    projectRights: createRights(steps),
    teams: createTeams(steps),
    projectTokens: createAdminTokens(steps),
  }),
}
