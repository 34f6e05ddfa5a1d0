import { access } from './access.js'
import { adminTokens } from './admin-tokens.js'
import { apiTokens } from './api-tokens.js'
import { audit } from './audit.js'
import { backups } from './backups.js'
import { collections } from './collections.js'
import { device } from './device.js'
import { doctor } from './doctor.js'
import { environment } from './environment.js'
import { home } from './home.js'
import { mail } from './mail.js'
import { projectUsers, teams } from './people.js'
import { releases } from './releases.js'
import { running } from './running.js'
import { sessions } from './sessions.js'
import { spaces } from './spaces.js'
import { users } from './users.js'

/** The whole control API, by nouns. The build writes the table of the tool from it. */
export const contract = {
  access,
  adminTokens,
  apiTokens,
  audit,
  backups,
  collections,
  device,
  doctor,
  environment,
  home,
  mail,
  projectUsers,
  releases,
  running,
  sessions,
  spaces,
  teams,
  users,
}
