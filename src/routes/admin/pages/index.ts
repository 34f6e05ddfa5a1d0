import type { Route } from '../../../http/route.js'
import { accessPage } from './access.js'
import { auditPage } from './audit.js'
import { devicePage } from './device.js'
import { doctorPage } from './doctor.js'
import { jwksPage } from './jwks.js'
import { mailPage } from './mail.js'
import { overviewPage } from './overview.js'
import { sessionsPage } from './sessions.js'
import { settingsPage } from './settings.js'
import { templatesPage } from './templates.js'
import { tokensPage } from './tokens.js'
import { userPage } from './user.js'
import { usersPage } from './users.js'

/** The table of the admin pages. */
export const adminPageRoutes: readonly Route[] = [
  overviewPage,
  usersPage,
  userPage,
  sessionsPage,
  tokensPage,
  jwksPage,
  accessPage,
  auditPage,
  mailPage,
  templatesPage,
  settingsPage,
  doctorPage,
  devicePage,
]
