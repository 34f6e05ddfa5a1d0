import { isDisabled, type UserRecord } from '../../model/user.js'
import type { Ports } from '../../ports.js'
import { mayMail } from '../steps/account-limits.js'
import { draftVerification } from './draft.js'

export type RequireUsablePorts = Pick<
  Ports,
  'oneTimeTokens' | 'keyring' | 'mails' | 'random' | 'clock' | 'policy' | 'limiter'
>

/** Why nobody comes in to that account, whatever they have proved; an address that waits for its proof gets a new mail. */
export async function usableFault(
  ports: RequireUsablePorts,
  user: UserRecord,
): Promise<'account_disabled' | 'email_not_verified' | null> {
  if (isDisabled(user, ports.clock.now())) return 'account_disabled'
  if (user.emailVerified || ports.policy.emailVerification === 'optional') return null
  if (await mayMail(ports, user.emailCanonical)) {
    const { token, mail } = draftVerification(ports, user, null)
    await ports.oneTimeTokens.put(token, mail, { keep: 1, now: ports.clock.now() })
  }
  return 'email_not_verified'
}
