import { auditEvent } from '../flows/steps/audit.js'
import type { World } from '../lib/runtime.js'
import { systemVisitor } from '../model/visitor.js'
import { type BreachedPasswords, createBreachedPasswords } from '../passwords/breached.js'
import { passwordFaults } from '../passwords/policy.js'
import type { Ports } from '../ports.js'
import type { Settings } from '../settings.js'

export interface PasswordRulesOptions extends Pick<Ports, 'audit' | 'clock' | 'random'> {
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
