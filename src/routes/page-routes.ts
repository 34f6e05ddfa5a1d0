import type { Route } from '../http/route.js'
import { accountPageRoute } from './account/page.js'
import { emailChangePageRoute, emailUndoPageRoute } from './email/pages.js'
import { errorPageRoute, signedOutPageRoute } from './message-pages.js'
import { registerIdentityPageRoute } from './oauth/register-identity.js'
import { otpPageRoute } from './otp/page.js'
import { verifyEmailPageRoute } from './pages.js'
import { loginPageRoute } from './password/login-page.js'
import { forgotPageRoute, resetPageRoute } from './password/pages.js'
import { registerPageRoute } from './registration/register-page.js'
import { twoFactorPageRoute } from './two-factor/login.js'
import { twoFactorSetupPageRoute } from './two-factor/setup.js'

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
