import { defineCommand } from '../command.js'
import { readValue } from '../files/variable-value.js'
import { aligned } from '../output.js'
import type { Tool } from '../tool.js'
import { usage } from '../tool-error.js'
import { actorNames } from './people.js'
import { ago } from './units.js'

const namePattern = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/
const secretPattern =
  /SECRET|TOKEN|PASS(WORD|WD|PHRASE)|PRIVATE|CREDENTIAL|(^|_)(KEY|PWD|PEPPER|DSN)(_|$)|API_?KEY|(DATABASE|REDIS|MONGO\w*|SMTP|AMQP)_UR[IL]/i

export const setEnvironment = defineCommand({
  example: 'latchkey set-env JWT_ACCESS_TOKEN_SECRET - --encrypted',
  arguments: [
    ['<NAME>', 'letters, digits and _'],
    ['[VALUE]', '- reads it from stdin; without one, it is asked for with hidden input'],
  ],
  options: [
    ['--encrypted', 'No command and no page ever shows the value'],
    ['--no-encrypted', 'Administrators may read the value'],
    ['--file <path>', 'Read the value from a file, less one newline at its end'],
  ],
  async run(tool, name, value, options) {
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
  },
})

async function askForSecret({ prompts }: Tool, name: string): Promise<boolean> {
  if (!secretPattern.test(name)) return false
  return prompts.confirm(
    `${name} looks like a secret. Encrypt it, so that nothing ever shows it (--encrypted, or --no-encrypted)?`,
  )
}

export const environment = defineCommand({
  example: 'latchkey env',
  async run({ output, hostHome }) {
    const host = await hostHome()
    const variables = await host.listVariables()
    const nameOf = await actorNames(host)
    const rows = variables.map(({ name, encrypted, value, version, setBy, setAt }) => [
      name,
      encrypted ? '(encrypted)' : (value ?? ''),
      `v${version}`,
      [nameOf(setBy), ago(setAt)].filter((part) => part !== '').join(', '),
    ])
    output.result(variables, aligned(rows))
    if (rows.length === 0) output.note(`The environment of ${host.space()} is empty.`)
  },
})

export const removeEnvironment = defineCommand({
  example: 'latchkey remove-env MAIL_FROM',
  arguments: [['<NAME>', 'as latchkey env prints it']],
  async run({ output, hostHomeToChange }, name) {
    const host = await hostHomeToChange()
    const space = host.space()
    await host.removeVariable(name)
    output.result({ space, name, removed: true }, [`Removed environment variable from '${space}'`])
    output.note('The application restarts without it.')
  },
})
