import { Command, type CommanderError } from 'commander'
import { isAdminCommand, notForAdminTokens } from './admin-token.js'
import { type CommandLine, commands } from './commands/index.js'
import { nearest } from './nearest.js'
import type { GlobalOptions, Tool } from './tool.js'
import { ToolError, usage } from './tool-error.js'

interface ProgramInput {
  version: string
  /** Called by the action of a command with all its options. */
  openTool(options: GlobalOptions, command: string): Tool
  write: { out(text: string): void; err(text: string): void }
}

/** The command line. Each command is declared by its own file, which is loaded when the command is named. */
export function createProgram({ version, openTool, write }: ProgramInput): Command {
  const program = new Command('latchkey')
  program
    .description('Administer an application that uses Latchkey: over its control API, or in its database.')
    .version(version, '-V, --version', 'Print the version')
    .helpOption('-h, --help', 'Print help')
    .helpCommand('help [command]', 'Print help for a command')
    .option('--url <url>', 'The application, reached over its control API (also LATCHKEY_URL)')
    .option('-s, --space <name>', 'The space of a space host (also LATCHKEY_SPACE; default: dev)')
    .option('--admintoken <token>', 'An admin token of a space host (also LATCHKEY_ADMIN_TOKEN); - reads it from stdin')
    .option('--config <path>', 'The settings module of the application, whose database is opened')
    .option('--env-file <path>', 'Variables for the settings module (default: .env beside it)')
    .option('--json', 'Print the result as JSON, and errors as problem details')
    .option('-y, --yes', 'Answer yes to yes-or-no questions')
    .exitOverride()
    .configureOutput({ writeOut: write.out, writeErr: write.err, outputError: () => {} })
    .configureHelp({ showGlobalOptions: true })
    .addHelpText('after', '\nExample:\n  latchkey login https://api.example.org')
  for (const line of commands) declare(program, line, openTool)
  return program
}

/** What commander threw, as an error of the tool. Null: it printed help or the version. */
export function commanderFault(error: CommanderError): ToolError | null {
  if (error.exitCode === 0) return null
  // Its help on stderr already says everything.
  if (error.code === 'commander.help') return new ToolError(2, 'usage', '')
  const [message = '', ...lines] = error.message.replace(/^error: /, '').split('\n')
  return usage(message, ...lines)
}

function declare(program: Command, [name, summary, load]: CommandLine, openTool: ProgramInput['openTool']): void {
  const words = name.split(' ')
  const parent = words.length === 1 ? program : program.commands.find((each) => each.name() === words[0])
  if (parent === undefined) throw new Error(`The command ${name} stands before its group.`)
  const command = parent
    .command(words.at(-1) ?? '')
    .summary(summary)
    .description(`${summary}.`)
    .allowExcessArguments()
  command.hook('preAction', (_, acting) => {
    refuseExcess(acting)
    refuseAdminToken(acting)
  })

  parent.hook('preSubcommand', async (acting, chosen) => {
    // A group that is only passed through declares no options: it would take `--role` of `users create --role`.
    const isPassed = chosen.commands.some((each) => each.name() === acting.args[1])
    if (chosen !== command || isPassed) return
    const file = await load()
    file.define(command, () => openTool(command.optsWithGlobals<GlobalOptions>(), name))
    command.addHelpText('after', `\nExample:\n  ${file.example}`)
  })
}

/** Too many words: of a group, the first is probably a command that is spelt wrong. */
function refuseExcess(command: Command): void {
  const { args, registeredArguments, commands: known } = command
  if (args.length <= registeredArguments.length || registeredArguments.at(-1)?.variadic) return
  const typed = args[0] ?? ''
  const path = commandPath(command)
  const near = nearest(
    typed,
    known.map((each) => each.name()),
  )
  const hint = near === null ? `Run: ${path} --help` : `Did you mean '${path} ${near}'?`
  throw usage(known.length > 0 ? `unknown command '${path} ${typed}'. ${hint}` : `too many arguments. ${hint}`)
}

/** Before the command runs, so that the token goes nowhere. */
function refuseAdminToken(command: Command): void {
  const { admintoken } = command.optsWithGlobals<GlobalOptions>()
  const path = commandPath(command)
  const isAllowed = isAdminCommand(path.slice('latchkey '.length))
  if (admintoken !== undefined && !isAllowed) throw notForAdminTokens(path)
}

function commandPath(command: Command): string {
  return command.parent === null ? command.name() : `${commandPath(command.parent)} ${command.name()}`
}
