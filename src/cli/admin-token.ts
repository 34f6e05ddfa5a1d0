import { type AdminCommand, adminCommands } from '../contract/admin-command.js'
import { adminTokenText } from '../model/admin-token.js'
import { type Environment, variable } from './environment.js'
import { readSecret } from './secret-input.js'
import type { RemotePlace, Tool } from './tool.js'
import { type ToolError, usage } from './tool-error.js'

const option = '--admintoken'
const variables = ['LATCHKEY_ADMIN_TOKEN', 'CODEHOOKS_ADMIN_TOKEN']

/** Whether admin tokens are for this command. */
export function isAdminCommand(command: string): command is AdminCommand {
  return adminCommands.some((each) => each === command)
}

/** @param command such as `latchkey tokens` */
export function notForAdminTokens(command: string): ToolError {
  return usage(`${command} takes no admin token. They are for: ${adminCommands.join(', ')}.`, 'Nothing was sent.')
}

/**
 * The admin token of the option or of a variable, for commands that take one. Null: the saved sign-in counts.
 *
 * A URL that only `latchkey.json` names gets none unless a sign-in was saved for it: a changed repository would otherwise
 * collect the token in CI.
 *
 * @param hasSignIn whether a sign-in is saved for the URL
 * @throws {ToolError} usage
 */
export async function readAdminToken(
  tool: Pick<Tool, 'environment' | 'output' | 'prompts' | 'options'> & { command: string },
  { address, file }: RemotePlace,
  hasSignIn: () => boolean,
): Promise<string | null> {
  const { environment, options, command } = tool
  const source = isAdminCommand(command) ? sourceOf(environment, options.admintoken) : null
  if (source === null) return null
  if (file !== null && !hasSignIn()) {
    throw usage(
      `Only ${file} names ${address.site}, and an admin token is not sent to such a server.`,
      `If it is yours, add: --url ${address.site}`,
    )
  }
  const { name, given } = source
  const text = name === option ? await readSecret(tool, given, { question: 'Type the admin token.', option }) : given
  if (!adminTokenText.test(text)) {
    throw usage(`${name} holds no admin token. One has 16 and 32 hexadecimal digits with a hyphen between.`)
  }
  return text
}

function sourceOf(environment: Environment, given: string | undefined): { name: string; given: string } | null {
  if (given !== undefined) return { name: option, given }
  for (const name of variables) {
    const value = variable(environment, name)
    if (value !== null) return { name, given: value }
  }
  return null
}
