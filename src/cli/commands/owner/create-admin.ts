import type { Command } from 'commander'
import { parseEmailAddress } from '../../../lib/email-address.js'
import type { LocalHome } from '../../home.js'
import { readSecret } from '../../secret-input.js'
import type { Tool } from '../../tool.js'
import { ToolError, usage } from '../../tool-error.js'
import { isDisabledNow } from '../account.js'

interface Options {
  invite?: boolean
  password?: string
}

export const example = 'latchkey create-admin ann@example.org'

export function define(command: Command, open: () => Tool): void {
  command
    .argument('<address>', 'email address; of an application, one of the setting admin.emails')
    .option('--invite', 'Mail an invitation to set a password, instead of asking for one')
    .option('--password <password>', 'The password; - reads it from stdin (default: asks for it)')
    .action(async (address: string, { invite = false, password }: Options) => {
      const tool = open()
      if (invite && password !== undefined) throw usage('Give either --invite or --password, not both.')
      const home = await tool.localHomeToChange()
      requireAdminAddress(home, address)
      const former = await home.findUser(address)
      if (former !== null && isDisabledNow(former)) {
        const remedy = `Enable it first: latchkey users enable ${former.email}`
        throw new ToolError(1, 'account_disabled', `The account ${former.email} is disabled. ${remedy}`)
      }
      const { account, created } = await home.createAdmin(address, invite ? null : await newPassword(tool, password))
      const isHost = home.adminEmails === null
      tool.output.result(account, [`${done(account.email, { created, invite, isHost })}.`])
      if (!created) tool.output.note('Its sessions have ended.')
    })
}

function done(email: string, { created, invite, isHost }: Record<'created' | 'invite' | 'isHost', boolean>): string {
  const gives = isHost ? 'right' : 'role'
  const made = created ? `Created account ${email} with the ${gives} ADMIN` : `Account ${email} has the ${gives} ADMIN`
  if (invite) return `${made}. An invitation goes to that address`
  return created ? made : `${made} and a new password`
}

/** @throws {ToolError} usage, with the line to add to the settings */
function requireAdminAddress({ adminEmails }: LocalHome, text: string): void {
  const address = parseEmailAddress(text)
  if (address === null) throw usage(`${text} is no email address.`)
  if (adminEmails === null || adminEmails.includes(address.canonical)) return
  const emails = [...adminEmails, address.canonical].map((email) => `'${email}'`).join(', ')
  throw usage(
    `${address.canonical} is not in the setting admin.emails. Add this line to the settings, and restart the application:`,
    `  admin: { emails: [${emails}] },`,
  )
}

/** A password that is typed without being seen is typed twice. */
async function newPassword(tool: Tool, given: string | undefined): Promise<string> {
  const password = await readSecret(tool, given, { question: 'Choose a password.', option: '--password' })
  if (given === undefined && (await tool.prompts.secret('Type it again.', '--password -')) !== password) {
    throw usage('The two passwords differ. Nothing was changed.')
  }
  return password
}
