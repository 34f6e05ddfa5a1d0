export type { Auth } from './auth.js'
export { createAuth } from './auth.js'
export { AuthError, type ErrorCode, SettingsError, type SettingsFault } from './errors.js'
export type { Hook, HookInput, Hooks } from './hooks.js'
export { init } from './init.js'
export type { Runtime } from './lib/runtime.js'
export type {
  ApiTokenPrincipal,
  HookPrincipal,
  JwtPrincipal,
  Principal,
  SessionPrincipal,
} from './model/principal.js'
export type { Session } from './model/session.js'
export type { User, UserFields } from './model/user.js'
export type { Logger, SettingsInput } from './settings.js'
