import { sameFactors } from '../../model/factors/kinds.js'
import type { UserRecord } from '../../model/user.js'
import type { Ports } from '../../ports.js'

const attempts = 3

/**
 * Takes a step that holds only for the account as it is, once somebody has proved to be its user. A role or a name may
 * have changed since, by a hook for one: then the step is tried again with what is there now, but only while everything
 * that a proof rests on is as it was. Whoever proved a password that is no longer the password has proved nothing.
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

/** The password, the mailbox, the logins at providers and the second factors that were asked for. */
function provesStill(was: UserRecord, is: UserRecord): boolean {
  return (
    is.passwordHash === was.passwordHash &&
    is.emailCanonical === was.emailCanonical &&
    is.emailVerified === was.emailVerified &&
    sameFactors(was, is) &&
    was.identities.every((linked) =>
      is.identities.some(({ provider, linkedAt }) => provider === linked.provider && linkedAt === linked.linkedAt),
    )
  )
}
