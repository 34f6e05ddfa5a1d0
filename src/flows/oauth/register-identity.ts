import { AuthError } from '../../errors.js'
import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import { type FileRegistrationPorts, fileRegistration } from '../registration/file.js'
import { newUser } from '../registration/register.js'
import { requireEmail } from '../steps/require-email.js'
import { runHook } from '../steps/run-hook.js'
import { findNewcomer, newcomerFields } from './newcomer.js'

export type RegisterIdentityPorts = FileRegistrationPorts & Pick<Ports, 'hooks'>

/**
 * Registers somebody whom a provider has identified, with the address that they name, as `register` does: it waits for the
 * mail, and the answer is the same whether or not the address has an account. They may name another one as long as this
 * browser holds them.
 *
 * @returns the handle that the browser keeps; there is no password, so nothing else can confirm
 * @throws {AuthError} `invalid_token` when nobody waits in this browser, `registration_disabled`, `invalid_request`, `hook_failed`
 */
export async function registerIdentity(
  ports: RegisterIdentityPorts,
  input: { email: string; handle: string | null; visitor: Visitor },
): Promise<string> {
  if (!ports.policy.registrationEnabled) throw new AuthError('registration_disabled')
  const newcomer = await findNewcomer(ports, input.handle)
  if (!newcomer) throw new AuthError('invalid_token')
  const email = requireEmail(input.email)
  const { provider, subject, name } = newcomer
  const fields = await newcomerFields(ports)

  const user = newUser(ports, { email: email.typed, canonical: email.canonical, name, fields })
  await runHook(ports.hooks.beforeRegister, { user, method: `oauth:${provider}`, visitor: input.visitor })
  const handle = ports.random.token()
  await fileRegistration(ports, email.canonical, handle, {
    applicant: { email: email.typed, name, fields, passwordHash: null, identity: { provider, subject } },
    visitor: input.visitor,
  })
  return handle
}
