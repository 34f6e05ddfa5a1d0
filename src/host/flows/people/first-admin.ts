import { AuthError } from '../../../errors.js'
import { requireStrong } from '../../../flows/password/new-password.js'
import { newUser, provedByApplication } from '../../../flows/registration/new-user.js'
import { type OpenSessionPorts, openSession } from '../../../flows/session/open-session.js'
import { networkSource } from '../../../flows/steps/account-limits.js'
import { auditEvent } from '../../../flows/steps/audit.js'
import type { IssuedSession } from '../../../flows/steps/issue-tokens.js'
import { requireEmail } from '../../../flows/steps/require-email.js'
import type { SessionMode } from '../../../model/session.js'
import type { UserRecord } from '../../../model/user.js'
import type { Visitor } from '../../../model/visitor.js'
import type { Ports } from '../../../ports.js'
import type { FirstAdmin } from '../../store/first-admin.js'

export interface Setup {
  firstAdmin: FirstAdmin
  accepts(key: string): boolean
  /** Called when the first administrator exists. */
  finished(): Promise<void>
}

export type SetUpPorts = OpenSessionPorts & Pick<Ports, 'passwords' | 'passwordFaults'>

export interface SetUpInput {
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
