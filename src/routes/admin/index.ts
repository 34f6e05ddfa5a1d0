import type { Route } from '../../http/route.js'
import { allowNetworkRoute, changeJwksRoute, checkJwksRoute, disallowNetworkRoute, readAccessRoute } from './access.js'
import { exportAuditRoute, listAuditRoute, verifyAuditRoute } from './audit.js'
import { answerDeviceRoute, askDeviceRoute, claimDeviceRoute, lookUpDeviceRoute } from './device.js'
import { echoRoute, readDoctorRoute } from './doctor.js'
import { readHealthRoute } from './health.js'
import { readHomeRoute } from './home.js'
import { impersonateRoute } from './impersonate.js'
import { dropMailRoute, listMailRoute, retryMailRoute } from './mail.js'
import { controlReferenceRoute } from './reference.js'
import { endSessionRoute, endUserSessionRoute, endUserSessionsRoute, listAllSessionsRoute } from './sessions.js'
import { readSettingsRoute } from './settings.js'
import { listTemplatesRoute, showTemplateRoute } from './templates.js'
import { createTokenRoute, listTokensRoute, removeTokenRoute, rotateTokenRoute } from './tokens.js'
import {
  demandResetRoute,
  disableUserRoute,
  enableUserRoute,
  mailVerificationRoute,
  removeFactorRoute,
} from './user-access.js'
import { createUserRoute, deleteUserRoute, listUsersRoute, readUserRoute, updateUserRoute } from './users.js'

/** The table of the control API. */
export const controlRoutes: readonly Route[] = [
  readHomeRoute,
  controlReferenceRoute(() => controlRoutes),
  askDeviceRoute,
  claimDeviceRoute,
  lookUpDeviceRoute,
  answerDeviceRoute,
  listTokensRoute,
  createTokenRoute,
  removeTokenRoute,
  rotateTokenRoute,
  readAccessRoute,
  changeJwksRoute,
  checkJwksRoute,
  allowNetworkRoute,
  disallowNetworkRoute,
  listUsersRoute,
  createUserRoute,
  readUserRoute,
  updateUserRoute,
  deleteUserRoute,
  disableUserRoute,
  enableUserRoute,
  demandResetRoute,
  mailVerificationRoute,
  endUserSessionsRoute,
  endUserSessionRoute,
  removeFactorRoute,
  impersonateRoute,
  listAllSessionsRoute,
  endSessionRoute,
  listAuditRoute,
  exportAuditRoute,
  verifyAuditRoute,
  listMailRoute,
  retryMailRoute,
  dropMailRoute,
  listTemplatesRoute,
  showTemplateRoute,
  readSettingsRoute,
  readHealthRoute,
  readDoctorRoute,
  echoRoute,
]
