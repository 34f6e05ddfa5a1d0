import { textIn } from '../../lib/json-fields.js'
import { parseJsonObject } from '../../lib/json-object.js'
import type { Address } from '../address.js'
import { type Environment, isInteractive } from '../environment.js'
import type { SignIn } from '../files/credentials.js'
import type { Output } from '../output.js'
import type { Prompts } from '../prompts.js'
import { readSecret } from '../secret-input.js'
import type { PasswordOptions } from '../tool.js'
import { ToolError } from '../tool-error.js'
import { readAnswer } from './send.js'
import { readSignIn, sendOpen } from './signed-in.js'

const codeTries = 3

interface PasswordInput {
  address: Address
  given: PasswordOptions
  environment: Environment
  output: Output
  prompts: Prompts
}

/**
 * Signs in with address, password and second factor, where no browser is at hand.
 *
 * @throws {ToolError} `invalid_credentials`, `invalid_code`, …
 */
export async function signInByPassword(input: PasswordInput): Promise<SignIn> {
  const { address, given, prompts } = input
  const email = given.email ?? (await prompts.text(`Type your email address at ${address.site}.`, '--email <address>'))
  const password = await readSecret(input, given.password, { question: 'Type your password.', option: '--password' })
  const answer = await sendOpen({ method: 'POST', url: `${address.auth}/login`, body: { email, password } })
  if (parseJsonObject(answer.text)?.status !== 'two_factor_required') return readSignIn(answer, address)
  const challenge = readAnswer(answer, address.site, (fields) => textIn(fields, 'challenge'))
  return passSecondFactor(input, challenge)
}

async function passSecondFactor(input: PasswordInput, challenge: string): Promise<SignIn> {
  const { address, given, environment, output } = input
  for (let left = codeTries; ; left -= 1) {
    const question = 'Type the code of your second factor.'
    const code = (await readSecret(input, given.code, { question, option: '--code' })).trim()
    try {
      const body = { challenge, code }
      return readSignIn(await sendOpen({ method: 'POST', url: `${address.auth}/login/two-factor`, body }), address)
    } catch (error) {
      const mayRetry = given.code === undefined && isInteractive(environment) && left > 1
      if (!mayRetry || !(error instanceof ToolError) || error.code !== 'invalid_code') throw error
      output.instruct(error.message)
    }
  }
}
