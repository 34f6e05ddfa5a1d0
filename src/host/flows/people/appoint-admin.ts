import { AuthError } from '../../../errors.js'
import { type CreateAdminPorts, type CreatedAdmin, entrustAddress } from '../../../flows/owner/create-admin.js'
import type { Visitor } from '../../../model/visitor.js'
import type { Appointments } from '../../store/first-admin.js'
import { peopleStep } from './step.js'

export type AppointPorts = CreateAdminPorts & { firstAdmin: Appointments }

/**
 * Makes the account of an address an administrator of the host, or gives an administrator access again, for the owner of the
 * machine. The address counts as proved. An existing account loses its sessions, and if its address was not proved also
 * everything that a stranger may have set.
 *
 * A call that broke off between its two steps leaves an account without the right. Calling again completes it.
 *
 * @param input `password: null` mails an invitation
 * @throws {AuthError} `invalid_request`, `weak_password` with `reasons`, `account_disabled`, `email_taken`
 */
export async function appointAdmin(
  ports: AppointPorts,
  input: { email: string; password: string | null; visitor: Visitor },
): Promise<CreatedAdmin> {
  const entrusted = await entrustAddress(ports, input)
  const { id } = entrusted.account
  const step = peopleStep(ports, 'right_granted', input.visitor, { userId: id, detail: { right: 'ADMIN' } })
  // Another process deleted the account meanwhile.
  if ((await ports.firstAdmin.appoint(id, step)) === null) throw new AuthError('not_found')
  return entrusted
}
