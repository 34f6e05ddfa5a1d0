import type { User } from './model/user.js'

/** What a hook is told. `request` holds method, path, ip and user agent; never a header, body or token. */
export interface HookInput {
  user: User
  /** How the user came: `password`, `otp`, `oauth:google`, … */
  method: string
  request: { ip: string | null; userAgent: string | null }
}

/**
 * Called before or after; a throw of `AuthError` refuses, any other throw answers 503 `hook_failed`. Either way what had
 * been begun is undone: after a registration the account, after a sign-in the session.
 */
export type Hook = (input: HookInput) => void | Promise<void>

/** What the owner may hang in. */
export interface Hooks {
  beforeRegister?: Hook
  afterRegister?: Hook
  beforeLogin?: Hook
  afterLogin?: Hook
}
