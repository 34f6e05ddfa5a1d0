import type { Route } from '../http/route.js'
import { changeEmailRoute } from './change-email.js'
import { confirmEmailRoute, undoEmailRoute } from './email.js'
import { unlinkIdentityRoute } from './identities.js'
import { linkIdentityRoute } from './link-identity.js'
import { loginRoute } from './login.js'
import { loginTwoFactorRoute } from './login-two-factor.js'
import { logoutRoute } from './logout.js'
import { mailboxRoute } from './mailbox.js'
import { deleteMeRoute, readMeRoute, updateMeRoute } from './me.js'
import { startOAuthRoute } from './oauth.js'
import { finishOAuthRoute } from './oauth-callback.js'
import { postedOAuthRoute } from './oauth-posted.js'
import { requestOtpRoute, verifyOtpRoute } from './otp.js'
import { pageRoutes } from './page-routes.js'
import { assetRoute } from './pages.js'
import { changePasswordRoute, forgotPasswordRoute } from './password.js'
import { referenceRoutes } from './reference.js'
import { refreshRoute } from './refresh.js'
import { registerRoute } from './register.js'
import { registerIdentityRoute } from './register-identity.js'
import { resetPasswordRoute } from './reset-password.js'
import { listSessionsRoute, revokeSessionRoute, revokeSessionsRoute } from './sessions.js'
import { confirmTotpRoute, enrolTotpRoute } from './totp.js'
import { backupCodesRoute, turnOffTwoFactorRoute } from './two-factor.js'
import { resendVerificationRoute, verifyEmailRoute } from './verify-email.js'

/** THE route table. */
export const routes: readonly Route[] = [
  registerRoute,
  verifyEmailRoute,
  resendVerificationRoute,
  loginRoute,
  loginTwoFactorRoute,
  refreshRoute,
  logoutRoute,
  requestOtpRoute,
  verifyOtpRoute,
  forgotPasswordRoute,
  resetPasswordRoute,
  changePasswordRoute,
  changeEmailRoute,
  confirmEmailRoute,
  undoEmailRoute,
  enrolTotpRoute,
  confirmTotpRoute,
  backupCodesRoute,
  turnOffTwoFactorRoute,
  startOAuthRoute,
  finishOAuthRoute,
  postedOAuthRoute,
  registerIdentityRoute,
  linkIdentityRoute,
  unlinkIdentityRoute,
  readMeRoute,
  updateMeRoute,
  deleteMeRoute,
  listSessionsRoute,
  revokeSessionRoute,
  revokeSessionsRoute,
  ...pageRoutes,
  ...referenceRoutes(() => routes),
  assetRoute,
  mailboxRoute,
]
