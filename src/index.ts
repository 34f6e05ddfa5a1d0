import type { Principal as Found } from './model/principal.js'

declare global {
  namespace Express {
    interface Request {
      /** The principal that the guard found; null for a request without a check. */
      auth: Found | null
    }
  }
}

export type { Gate } from './adapters/adapter.js'
export type { FetchGate } from './adapters/fetch.js'
export type { Auth } from './auth.js'
export { createAuth } from './auth.js'
export type { ApiTokenEntry, CreatedApiToken } from './contract/api-tokens.js'
export { AuthError, type ErrorCode, SettingsError, type SettingsFault } from './errors.js'
export type { Hook, HookInput, Hooks } from './hooks.js'
export { init } from './init.js'
export type { Duration } from './lib/duration.js'
export type { Runtime } from './lib/runtime.js'
export type { AccessView } from './model/access.js'
export type { Account, AccountChanges, AccountFilter, AccountState, NewAccount, Page } from './model/account.js'
export type { Actor } from './model/actor.js'
export type { ApiTokenFilter, ApiTokenRotation, NewApiToken } from './model/api-token.js'
export type { AuditEntry, AuditFilter } from './model/audit-event.js'
export type { Health } from './model/health.js'
export type {
  CodehooksAuthUser,
  ImportedAccount,
  ImportedPasskey,
  ImportedRecord,
  ImportReport,
} from './model/imported-account.js'
export type { Migrations } from './model/migrations.js'
export type {
  ApiTokenPrincipal,
  HookPrincipal,
  JwtPrincipal,
  Principal,
  SessionPrincipal,
} from './model/principal.js'
export type { SessionEntry } from './model/session.js'
export type { User, UserFields } from './model/user.js'
export type { AuthenticateHook, HookAnswer, HookRequest } from './settings/input.js'
export type { RequirementInput } from './settings/requirement.js'
export type { Logger } from './settings.js'
export type { SettingsInput as LatchkeySettings } from './wiring/settings.js'
