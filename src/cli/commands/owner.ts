import { resolve } from 'node:path'
import { SettingsError } from '../../errors.js'
import type { KeyRotation } from '../../host/tool/calls.js'
import { parseEmailAddress } from '../../lib/email-address.js'
import { newSecret } from '../../lib/random.js'
import { type CommandFile, defineCommand } from '../command.js'
import { variable } from '../environment.js'
import type { LocalHome } from '../home.js'
import { readSecret } from '../secret-input.js'
import type { Tool } from '../tool.js'
import { ToolError, usage } from '../tool-error.js'
import { isDisabledNow } from './account.js'

export const createAdmin = defineCommand({
  example: 'latchkey create-admin ann@example.org',
  arguments: [['<address>', 'email address; of an application, one of the setting admin.emails']],
  options: [
    ['--invite', 'Mail an invitation to set a password, instead of asking for one'],
    ['--password <password>', 'The password; - reads it from stdin (default: asks for it)'],
  ],
  async run(tool, address, { invite = false, password }) {
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
  },
})

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

const current = 'The schema is current.'

export const migrate = defineCommand({
  example: 'latchkey migrate --dry-run',
  options: [['--dry-run', 'Print the statements, and change nothing']],
  async run({ output, localDatabase }, { dryRun = false }) {
    const { target, plan, migrate } = await localDatabase()
    if (!dryRun) output.note(target)
    const pending = await plan()
    if (dryRun) {
      const lines = pending.flatMap(({ name, sql }) => [`-- ${name}`, ...sql.map((statement) => `${statement};`)])
      output.result({ pending }, pending.length === 0 ? [current] : lines)
      return
    }
    if (pending.length > 0) await migrate()
    const names = pending.map(({ name }) => name)
    output.result({ applied: names }, [...names, current])
  },
})

export const serve = defineCommand({
  example: 'latchkey serve --config latchkey.host.json',
  options: [['--master-key-file <file>', 'The key that opens the encrypted environment, one a line']],
  async run({ options }, { masterKeyFile }) {
    const { config = null, envFile } = options
    if (envFile !== undefined) throw usage('The host reads no --env-file. Set its variables in its environment.')
    const { serve, isMorePackages } = await import('../../host/serve.js')
    // The host ends by these signals itself, after it has answered what runs.
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.removeAllListeners(signal)
    const asked = await serve({ config, masterKeyFile: masterKeyFile ?? null }).catch((error: unknown) => {
      throw error instanceof SettingsError ? refusal(error, isMorePackages(error)) : error
    })
    if (!asked) throw new ToolError(1, 'host_failed', 'The host ended after an unexpected error, which its log names.')
  },
})

/** Without its packages the host was not installed as it must be; any other fault is one of the start. */
function refusal({ message }: SettingsError, isMissing: boolean): ToolError {
  const [first = '', ...lines] = message.split('\n')
  return isMissing
    ? new ToolError(2, 'packages_missing', first, { lines })
    : new ToolError(1, 'host_not_started', first, { lines })
}

export const secret = defineCommand({
  example: 'latchkey secret >> .env',
  run({ output }) {
    const secrets = { JWT_ACCESS_TOKEN_SECRET: newSecret(), JWT_REFRESH_TOKEN_SECRET: newSecret() }
    const lines = Object.entries(secrets).map(([name, value]) => `${name}=${value}`)
    output.result(secrets, lines)
  },
})

/** Has commands below it, and does nothing itself. */
export const keys: CommandFile = { example: 'latchkey keys rotate --config latchkey.host.json', define() {} }

export const rotateKeys = defineCommand({
  example: 'latchkey keys rotate --config latchkey.host.json',
  options: [
    ['--deep', 'Make new data keys, and seal every value again'],
    ['--master-key-file <file>', 'As of latchkey serve; its first line is the new key'],
  ],
  async run({ environment, output, localHostToChange }, { deep = false, masterKeyFile }) {
    const file = masterKeyFile === undefined ? null : resolve(environment.folder, masterKeyFile)
    const host = await localHostToChange()
    const masterKey = variable(environment, 'LATCHKEY_MASTER_KEY')
    const rotation = await host.rotateKeys({ deep, masterKey, masterKeyFile: file })
    output.result(rotation, lines(rotation, deep))
  },
})

function lines({ keyId, formerKeyIds, spaces, file }: KeyRotation, deep: boolean): string[] {
  const count = spaces === 1 ? '1 space' : `${spaces} spaces`
  const done = deep ? `Sealed the environment of ${count} again` : `Wrapped the data keys of ${count} again`
  const place = file ?? 'LATCHKEY_MASTER_KEY'
  return [
    `${done}, under the master key ${keyId}.`,
    ...formerKeyIds.map(
      (id, index) => `The former key ${id} is key ${index + 2} of ${place}. Remove it when no backup needs it.`,
    ),
  ]
}
