import type { Route } from '../http/route.js'
import { deleteMeRoute, readMeRoute, updateMeRoute } from './account/me.js'
import { controlRoutes } from './admin/index.js'
import { adminPageRoutes } from './admin/pages/index.js'
import { assetRoute } from './assets.js'
import { mailboxRoute } from './development/mailbox.js'
import { referenceRoutes } from './development/reference.js'
import { confirmEmailRoute, undoEmailRoute } from './email/api.js'
import { changeEmailRoute } from './email/change.js'
import { finishOAuthRoute } from './oauth/callback.js'
import { unlinkIdentityRoute } from './oauth/identities.js'
import { linkIdentityRoute } from './oauth/link-identity.js'
import { postedOAuthRoute } from './oauth/posted.js'
import { registerIdentityRoute } from './oauth/register-identity.js'
import { startOAuthRoute } from './oauth/start.js'
import { requestOtpRoute, verifyOtpRoute } from './otp/api.js'
import { pageRoutes } from './page-routes.js'
import { listPasskeysRoute, renamePasskeyRoute } from './passkeys/list.js'
import { passkeyLoginRoute, startPasskeyLoginRoute } from './passkeys/login.js'
import { addPasskeyRoute, startPasskeyRoute } from './passkeys/register.js'
import { removePasskeyRoute } from './passkeys/remove.js'
import { changePasswordUrlRoute, passkeyEndpointsRoute, relatedOriginsRoute } from './passkeys/well-known.js'
import { changePasswordRoute, forgotPasswordRoute } from './password/api.js'
import { loginRoute } from './password/login.js'
import { resetPasswordRoute } from './password/reset.js'
import { registerRoute } from './registration/register.js'
import { resendVerificationRoute } from './registration/resend-verification.js'
import { verifyEmailRoute } from './registration/verify-email.js'
import { logoutRoute } from './session/logout.js'
import { refreshRoute } from './session/refresh.js'
import { listSessionsRoute, revokeSessionRoute, revokeSessionsRoute } from './session/sessions.js'
import { stopImpersonatingRoute } from './session/stop-impersonating.js'
import { backupCodesRoute, turnOffTwoFactorRoute } from './two-factor/api.js'
import { loginTwoFactorRoute } from './two-factor/login.js'
import { startPasskeyStepRoute } from './two-factor/passkey-step.js'
import { reauthenticateRoute, startReauthenticationRoute } from './two-factor/reauthenticate.js'
import { confirmTotpRoute, enrolTotpRoute } from './two-factor/totp.js'

/** THE route table. */
export const routes: readonly Route[] = [
  registerRoute,
  verifyEmailRoute,
  resendVerificationRoute,
  loginRoute,
  startPasskeyStepRoute,
  loginTwoFactorRoute,
  startPasskeyLoginRoute,
  passkeyLoginRoute,
  startReauthenticationRoute,
  reauthenticateRoute,
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
  startPasskeyRoute,
  addPasskeyRoute,
  listPasskeysRoute,
  renamePasskeyRoute,
  removePasskeyRoute,
  relatedOriginsRoute,
  passkeyEndpointsRoute,
  changePasswordUrlRoute,
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
  stopImpersonatingRoute,
  ...pageRoutes,
  ...referenceRoutes(() => routes),
  ...controlRoutes,
  ...adminPageRoutes,
  assetRoute,
  mailboxRoute,
]
