import { AuthError } from '../../errors.js'
import type { Ports } from '../../ports.js'

/** The refusal of a step that would leave no administrator. In an application the settings name them, in the host rights do. */
export function lastAdminFault({ home }: Pick<Ports, 'home'>, detail?: string): AuthError {
  return new AuthError(home === 'host' ? 'last_admin' : 'would_lock_out', detail === undefined ? {} : { detail })
}
