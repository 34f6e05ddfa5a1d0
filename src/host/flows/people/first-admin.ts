import { AuthError } from '../../../errors.js'
import { type CreateAdminPorts, type CreatedAdmin, entrustAddress } from '../../../flows/owner/create-admin.js'
import { requireStrong } from '../../../flows/password/reset.js'
import { newUser, provedByApplication } from '../../../flows/registration/register.js'
import { type OpenSessionPorts, openSession } from '../../../flows/session/open-session.js'
import { networkSource } from '../../../flows/steps/account-limits.js'
import { auditEvent } from '../../../flows/steps/audit.js'
import type { IssuedSession } from '../../../flows/steps/issue-tokens.js'
import { requireEmail } from '../../../flows/steps/require-account-fields.js'
import type { SessionMode } from '../../../model/session.js'
import type { UserRecord } from '../../../model/user.js'
import type { Visitor } from '../../../model/visitor.js'
import type { Ports } from '../../../ports.js'
import type { Appointments, FirstAdmin } from '../../store/people.js'
import { peopleStep } from './step.js'

export interface Setup {
  firstAdmin: FirstAdmin
  accepts(key: string): boolean
  /** Called when the first administrator exists. */
  finished(): Promise<void>
}

type SetUpPorts = OpenSessionPorts & Pick<Ports, 'passwords' | 'passwordFaults'>

interface SetUpInput {
  key: string
  email: string
  password: string
  name: string | null
  mode: SessionMode
  visitor: Visitor
  /** The browser's device secret. */
  device: string | null
}

/** @throws {AuthError} `not_found` when there is an administrator */
export async function requireNoAdmin({ firstAdmin }: Pick<Setup, 'firstAdmin'>): Promise<void> {
  if (await firstAdmin.exists()) throw new AuthError('not_found')
}

/**
 * Creates the first administrator and signs them in. The key stands in a file of the host, so its reader runs the host: the
 * address counts as proved.
 *
 * @throws {AuthError} `not_found` when there is an administrator, `invalid_token` for a wrong or old key, `invalid_request`,
 *   `weak_password` with `reasons`, `email_taken`
 */
export async function setUp(ports: SetUpPorts, setup: Setup, input: SetUpInput): Promise<IssuedSession> {
  const { email, password, name, mode, visitor, device } = input
  await requireNoAdmin(setup)
  if (!setup.accepts(input.key)) throw new AuthError('invalid_token')
  const { typed, canonical } = requireEmail(email)
  await requireStrong(ports, password, canonical)
  const passwordHash = await ports.passwords.hash(password, networkSource(visitor))

  const fresh = newUser(ports, { email: typed, canonical, name, fields: {} })
  const user: UserRecord = { ...fresh, passwordHash, ...provedByApplication(true) }
  const detail = { admin: true, setup: true }
  const audit = auditEvent(ports, 'account_created', visitor, { userId: user.id, detail })
  const outcome = await setup.firstAdmin.create(user, audit)
  if (outcome === 'exists') throw new AuthError('not_found')
  if (outcome === 'taken') throw new AuthError('email_taken')
  await setup.finished()
  return openSession(ports, { user, mode, method: 'registration', amr: ['pwd'], visitor, device })
}

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
