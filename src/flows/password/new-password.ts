import { AuthError } from '../../errors.js'
import type { Ports } from '../../ports.js'

/**
 * Checks a new password against the rules, before anything is used up.
 *
 * @throws {AuthError} `weak_password` with `reasons`
 */
export async function requireStrong(
  ports: Pick<Ports, 'passwordFaults'>,
  password: string,
  emailCanonical: string,
): Promise<void> {
  const reasons = await ports.passwordFaults(password, emailCanonical)
  if (reasons.length > 0) throw new AuthError('weak_password', { reasons })
}
