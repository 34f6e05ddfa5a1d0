import type { Command } from 'commander'
import type { Tool } from '../../tool.js'
import { usage } from '../../tool-error.js'
import { readValue } from './value.js'

interface Options {
  /** Undefined: neither `--encrypted` nor `--no-encrypted`. */
  encrypted?: boolean
  file?: string
}

const namePattern = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/
const secretPattern =
  /SECRET|TOKEN|PASS(WORD|WD|PHRASE)|PRIVATE|CREDENTIAL|(^|_)(KEY|PWD|PEPPER|DSN)(_|$)|API_?KEY|(DATABASE|REDIS|MONGO\w*|SMTP|AMQP)_UR[IL]/i

export const example = 'latchkey set-env JWT_ACCESS_TOKEN_SECRET - --encrypted'

export function define(command: Command, open: () => Tool): void {
  command
    .argument('<NAME>', 'letters, digits and _')
    .argument('[VALUE]', '- reads it from stdin; without one, it is asked for with hidden input')
    .option('--encrypted', 'No command and no page ever shows the value')
    .option('--no-encrypted', 'Administrators may read the value')
    .option('--file <path>', 'Read the value from a file, less one newline at its end')
    .action(async (name: string, value: string | undefined, options: Options) => {
      const tool = open()
      if (!namePattern.test(name))
        throw usage(`${name} is no name of a variable: up to 64 letters, digits and _, the first no digit.`)
      if (value !== undefined && options.file !== undefined) throw usage('Give either a value or --file, not both.')
      const host = await tool.hostHomeToChange()
      const space = host.space()
      const encrypted = options.encrypted ?? (await askForSecret(tool, name))
      const text = await readValue(tool, { name, value, file: options.file, encrypted })
      await host.setVariable({ name, value: text, encrypted })
      tool.output.result({ space, name, encrypted }, [`Added environment variable to '${space}'`])
      tool.output.note('The application restarts with it.')
    })
}

async function askForSecret({ prompts }: Tool, name: string): Promise<boolean> {
  if (!secretPattern.test(name)) return false
  return prompts.confirm(
    `${name} looks like a secret. Encrypt it, so that nothing ever shows it (--encrypted, or --no-encrypted)?`,
  )
}
