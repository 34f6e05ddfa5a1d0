import type { AdminTokens } from './admin-tokens.js'
import type { Rights } from './rights.js'
import type { Teams } from './teams.js'

/** Who may administer the project. */
export interface PeopleNouns {
  projectRights: Rights
  teams: Teams
  projectTokens: AdminTokens
}
