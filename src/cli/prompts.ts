import { type Environment, isInteractive } from './environment.js'
import { printable } from './printable.js'
import { interrupted, ToolError, usage } from './tool-error.js'

/**
 * Questions to the person at the terminal. Without a terminal each is a usage error that names the option which answers it.
 * Cancelling a question interrupts the command.
 */
export interface Prompts {
  /** Yes or no; `--yes` answers yes. */
  confirm(question: string): Promise<boolean>
  /** The same question; no ends the command. @throws {ToolError} `not_confirmed` */
  agree(question: string): Promise<void>
  /** Asks for a line. `option` answers it on the command line. */
  text(question: string, option: string): Promise<string>
  /** The same with hidden input. */
  secret(question: string, option: string): Promise<string>
  /** Asks to choose one. `option` answers it on the command line. */
  select(question: string, choices: readonly Choice[], option: string): Promise<string>
  /** Asks to repeat a name. Only `--confirm <name>` answers it on the command line. */
  name(question: string, expected: string, given: string | undefined): Promise<string>
}

export interface Choice {
  value: string
  label: string
}

export function createPrompts(environment: Environment, yes: boolean): Prompts {
  async function ask(question: string, option: string, kind: 'text' | 'password'): Promise<string> {
    if (!isInteractive(environment)) throw usage(`${question} Answer with ${option}: there is no terminal to ask on.`)
    const clack = await import('@clack/prompts')
    const answer = await clack[kind]({ message: printable(question), ...streams(environment) })
    if (typeof answer !== 'string') throw interrupted()
    return answer
  }

  async function confirm(question: string): Promise<boolean> {
    if (yes) return true
    if (!isInteractive(environment)) throw usage(`${question} Answer with --yes: there is no terminal to ask on.`)
    const clack = await import('@clack/prompts')
    const answer = await clack.confirm({ message: printable(question), initialValue: false, ...streams(environment) })
    if (typeof answer !== 'boolean') throw interrupted()
    return answer
  }

  return {
    confirm,
    async agree(question) {
      if (!(await confirm(question))) throw new ToolError(1, 'not_confirmed', 'Nothing was changed.')
    },
    text: (question, option) => ask(question, option, 'text'),
    secret: (question, option) => ask(question, option, 'password'),
    async select(question, choices, option) {
      if (!isInteractive(environment)) throw usage(`${question} Answer with ${option}: there is no terminal to ask on.`)
      const clack = await import('@clack/prompts')
      const options = choices.map(({ value, label }) => ({ value, label: printable(label) }))
      const answer = await clack.select({ message: printable(question), options, ...streams(environment) })
      if (typeof answer !== 'string') throw interrupted()
      return answer
    },
    async name(question, expected, given) {
      const option = `--confirm ${expected}`
      const answer = given ?? (await ask(`${question} Type ${expected} to go on.`, option, 'text'))
      if (answer.trim() !== expected) throw usage(`This is not ${expected}. Nothing was changed.`)
      return answer.trim()
    },
  }
}

/** clack takes the streams of a terminal. stdout stays free for the result. */
function streams({ stdin, stderr }: Environment) {
  return { input: stdin, output: stderr }
}
