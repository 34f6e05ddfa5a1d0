import { AuthError, type ErrorCode } from '../../errors.js'
import type { SessionPrincipal } from '../../model/principal.js'
import type { Ports } from '../../ports.js'
import type { SessionState } from '../../store/sessions.js'
import { readProfile } from './profile.js'

const attempts = 3

/**
 * Takes a step that holds only for the account as it was read. If something else about the account (a role, a name) has changed
 * meanwhile, the step is repeated with the current account.
 *
 * @param step Null when it was refused.
 * @param refusal The code if the account is unchanged, so that the step itself came too late.
 * @throws {AuthError} `token_revoked` when the session ended meanwhile, `refusal`, `busy`
 */
export async function atVersion<Result>(
  ports: Pick<Ports, 'sessions'>,
  { principal, state, refusal }: { principal: SessionPrincipal; state: SessionState; refusal: ErrorCode },
  step: (current: SessionState) => Promise<Result | null>,
): Promise<Result> {
  let current = state
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const done = await step(current)
    if (done !== null) return done
    const seen = current.user.version
    current = await readProfile(ports, principal)
    if (current.user.version === seen) throw new AuthError(refusal)
  }
  throw new AuthError('busy', { retryAfterSeconds: 1 })
}
