import { sameFactors } from '../../model/factors/kinds.js'
import type { UserRecord } from '../../model/user.js'
import type { Ports } from '../../ports.js'

const attempts = 3

/**
 * Takes a step for an account whose user has just been proved. If a role or a name has changed since, by a hook for example,
 * the step is repeated with the current account, but only while everything that the proof rests on is unchanged. A proof by
 * a former password counts no more.
 *
 * @param step False when it was refused, as for an account that is disabled or at another version.
 * @returns The account that the step was taken for; null when it was refused.
 */
export async function atVersionProved(
  ports: Pick<Ports, 'users'>,
  proved: UserRecord,
  step: (current: UserRecord) => Promise<boolean>,
): Promise<UserRecord | null> {
  let current = proved
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    if (await step(current)) return current
    const found = await ports.users.findById(proved.id)
    if (!found || found.version === current.version || !provesStill(proved, found)) return null
    current = found
  }
  return null
}

/** Whether password (and that it counts), mailbox, identities at providers and required second factors are unchanged. */
function provesStill(was: UserRecord, is: UserRecord): boolean {
  return (
    is.passwordHash === was.passwordHash &&
    is.emailCanonical === was.emailCanonical &&
    is.emailVerified === was.emailVerified &&
    is.mustReset === was.mustReset &&
    sameFactors(was, is) &&
    was.identities.every((linked) =>
      is.identities.some(({ provider, linkedAt }) => provider === linked.provider && linkedAt === linked.linkedAt),
    )
  )
}
