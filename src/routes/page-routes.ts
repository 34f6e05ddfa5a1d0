import type { Route } from '../http/route.js'
import { accountPageRoute } from './account/page.js'
import { emailChangePageRoute, emailUndoPageRoute } from './email/pages.js'
import { errorPageRoute } from './error-page.js'
import { registerIdentityPageRoute } from './oauth/register-identity.js'
import { otpPageRoute } from './otp/page.js'
import { newPasskeyPageRoute } from './passkeys/page.js'
import { loginPageRoute } from './password/login-page.js'
import { forgotPageRoute, resetPageRoute } from './password/pages.js'
import { registerPageRoute } from './registration/register-page.js'
import { verifyEmailPageRoute } from './registration/verify-email-page.js'
import { signedOutPageRoute } from './session/signed-out-page.js'
import { twoFactorPageRoute } from './two-factor/login-page.js'
import { twoFactorSetupPageRoute } from './two-factor/setup.js'

/** The pages of the route table. */
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
  newPasskeyPageRoute,
  twoFactorSetupPageRoute,
  signedOutPageRoute,
  errorPageRoute,
]
