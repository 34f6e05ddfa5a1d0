import { AuthError } from '../errors.js'
import { auditEvent } from '../flows/steps/audit.js'
import type { World } from '../lib/runtime.js'
import { systemVisitor } from '../model/visitor.js'
import { type BreachedPasswords, createBreachedPasswords } from '../passwords/breached.js'
import { passwordFaults } from '../passwords/policy.js'
import type { Policy, Ports } from '../ports.js'
import { requiresFactor } from '../settings/required-factor.js'
import type { Settings, StandardSchema } from '../settings.js'

/** How long a registration's link and code are valid. */
const verificationSeconds = 24 * 60 * 60

/** The part of the settings that flows decide by. */
export function policyOf(settings: Settings): Policy {
  return {
    authUrl: `${settings.origin}${settings.urlPath}${settings.basePath}`,
    accessTokenSeconds: settings.accessTokenSeconds,
    refreshTokenSeconds: settings.refreshTokenSeconds,
    sessionSeconds: settings.sessionSeconds,
    maxSessions: settings.maxSessions,
    registrationEnabled: settings.registration.enabled,
    emailVerification: settings.registration.emailVerification,
    verificationSeconds,
    codeDigits: settings.otp.length,
    codeTries: settings.otp.tries,
    otpSeconds: settings.otp.lifetimeSeconds,
    otpMail: settings.otp.mail,
    issuer: settings.twoFactor.issuer,
    adminEmails: settings.admin.emails,
    access: {
      networks: settings.allowList,
      knowsClients: settings.trustedProxies.kind !== 'hops',
      jwksUrl: settings.jwks?.url ?? null,
      audience: settings.jwks?.audience ?? [],
      reach: { allowPrivate: settings.jwks?.allowPrivate ?? false, allowLoopback: settings.development },
    },
    admin: {
      recentSeconds: settings.admin.recentSeconds,
      twoFactor: settings.admin.twoFactor,
      impersonation: settings.admin.impersonation,
    },
    passkeys: settings.passkeys.enabled ? settings.passkeys : null,
    requiresFactor: (roles) => requiresFactor(settings.twoFactor, roles),
    parseFields: (input) => parseFields(settings.registration.fields, input),
  }
}

/** Without the application's schema no extra field is kept, so users cannot add fields to their account (ASVS 5.0, 15.3.3). */
async function parseFields(
  schema: StandardSchema | null,
  input: Readonly<Record<string, unknown>>,
): Promise<Readonly<Record<string, unknown>>> {
  if (schema === null) return {}
  const result = await schema['~standard'].validate(input)
  if (result.issues) {
    throw new AuthError('invalid_request', {
      errors: result.issues.map((issue) => ({ path: pathOf(issue.path), message: issue.message })),
    })
  }
  const value: unknown = result.value
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new AuthError('internal_error', { cause: new TypeError('registration.fields must give an object') })
  }
  return { ...value }
}

function pathOf(path: readonly (PropertyKey | { key: PropertyKey })[] | undefined): string {
  return (path ?? []).map((part) => String(typeof part === 'object' ? part.key : part)).join('.')
}

interface PasswordRulesOptions extends Pick<Ports, 'audit' | 'clock' | 'random'> {
  settings: Pick<Settings, 'password' | 'logger'>
  world: World
}

/** The rules for every new password. The outside is asked last, and only about one that breaks none of ours. */
export function createPasswordRules(options: PasswordRulesOptions): Ports['passwordFaults'] {
  const breached = breachedOf(options)
  return async (password, email) => {
    const faults = await passwordFaults(password, email, options.settings.password)
    if (faults.length > 0 || !breached) return faults
    return (await breached.includes(password)) ? ['breached'] : []
  }
}

function breachedOf({ settings, world, audit, clock, random }: PasswordRulesOptions): BreachedPasswords | null {
  const rangeApi = settings.password.checkBreached
  if (rangeApi === false) return null
  return createBreachedPasswords({
    rangeApi,
    world,
    async onUnavailable(reason) {
      const event = 'breach_check_unavailable'
      settings.logger.warn(
        { event, reason },
        'The range API does not answer, so new passwords pass without the breach check. Check that the server can reach it.',
      )
      const facts = { outcome: 'failure', detail: { reason } } as const
      // An outage is no visitor's doing.
      await audit.record(auditEvent({ clock, random }, event, systemVisitor, facts))
    },
  })
}
