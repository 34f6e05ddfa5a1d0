import type { Route } from '../http/route.js'
import { accountPageRoute } from './account/account-page.js'
import { emailChangePageRoute, emailUndoPageRoute } from './email/email-pages.js'
import { loginPageRoute } from './password/login-page.js'
import { twoFactorPageRoute } from './two-factor/login-two-factor.js'
import { errorPageRoute, signedOutPageRoute } from './message-pages.js'
import { otpPageRoute } from './otp/otp-page.js'
import { verifyEmailPageRoute } from './pages.js'
import { forgotPageRoute, resetPageRoute } from './password/password-pages.js'
import { registerIdentityPageRoute } from './oauth/register-identity.js'
import { registerPageRoute } from './registration/register-page.js'
import { twoFactorSetupPageRoute } from './two-factor/two-factor-setup.js'

/** The part of the route table that people see. */
export const pageRoutes: readonly Route[] = [
  loginPageRoute,
  registerPageRoute,
  verifyEmailPageRoute,
  otpPageRoute,
  forgotPageRoute,
  resetPageRoute,
  emailChangePageRoute,
  emailUndoPageRoute,
  twoFactorPageRoute,
  registerIdentityPageRoute,
  accountPageRoute,
  twoFactorSetupPageRoute,
  signedOutPageRoute,
  errorPageRoute,
]
