import { AuthError } from '../../errors.js'
import type { Ports } from '../../ports.js'
import { type FileRegistrationPorts, fileRegistration } from '../registration/file.js'
import { newUser } from '../registration/new-user.js'
import type { MailAsker } from '../steps/mail-limit.js'
import { requireEmail } from '../steps/require-email.js'
import { runHook } from '../steps/run-hook.js'
import { findNewcomer, newcomerFields } from './newcomer.js'

export type RegisterIdentityPorts = FileRegistrationPorts & Pick<Ports, 'hooks'>

/**
 * Registers a newcomer with the address that they enter, as `register` does. The registration waits for the mail, and the
 * answer is the same whether or not the address has an account. As long as this browser holds the newcomer, they may enter
 * another address.
 *
 * @returns the handle that the browser keeps; without a password, nothing else can confirm
 * @throws {AuthError} `invalid_token` without a newcomer in this browser, `registration_disabled`, `invalid_request`,
 *   `hook_failed`
 */
export async function registerIdentity(
  ports: RegisterIdentityPorts,
  input: MailAsker & { email: string; handle: string | null },
): Promise<string> {
  if (!ports.policy.registrationEnabled) throw new AuthError('registration_disabled')
  const newcomer = await findNewcomer(ports, input.handle)
  if (!newcomer) throw new AuthError('invalid_token')
  const email = requireEmail(input.email)
  const { provider, subject, name } = newcomer
  const fields = await newcomerFields(ports)

  const user = newUser(ports, { email: email.typed, canonical: email.canonical, name, fields })
  await runHook(ports, 'beforeRegister', { user, method: `oauth:${provider}`, visitor: input.visitor })
  const handle = ports.random.token()
  await fileRegistration(ports, email.canonical, handle, {
    applicant: { email: email.typed, name, fields, passwordHash: null, identity: { provider, subject } },
    asker: input,
  })
  return handle
}
