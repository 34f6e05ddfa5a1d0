import { defineCommand } from '../command.js'
import { writeSpace } from '../files/project-file.js'
import type { SpaceLine } from '../host-home.js'
import { requireSpaceName } from '../space-name.js'
import { usage } from '../tool-error.js'
import { type Columns, listOptions, pageInput, printPage } from './lists.js'
import { megabytes, shortTime } from './units.js'

export const use = defineCommand({
  example: 'latchkey use dev',
  arguments: [['<space>', 'as latchkey spaces prints it']],
  async run({ environment, output, place, hostHome }, name) {
    requireSpaceName(name, 'The argument')
    const where = place()
    await (await hostHome()).readSpace(name)
    if (where.mode === 'local') throw usage('Give the URL of the host: --url https://api.example.org')
    const path = writeSpace(environment, where.address, name)
    output.result({ space: name, path }, [`Using space ${name} (written to latchkey.json)`])
  },
})

const columns: Columns<SpaceLine> = {
  NAME: ({ name }) => name,
  STATE: ({ state }) => state,
  RELEASE: ({ release }) => release ?? 'none',
  MEMORY: ({ memoryBytes }) => megabytes(memoryBytes),
  RESTARTS: ({ restarts }) => restarts,
  URL: ({ url }) => url,
  CREATED: ({ createdAt }) => shortTime(createdAt, ''),
}

export const spaces = defineCommand({
  example: 'latchkey spaces',
  options: listOptions,
  async run({ output, hostHome }, options) {
    const page = await (await hostHome()).listSpaces(pageInput(options))
    printPage(output, page, columns, 'There are no spaces. Create one with: latchkey create dev')
  },
})

export const createSpace = defineCommand({
  example: 'latchkey create dev',
  arguments: [['<space>', 'up to 31 of a to z, 0 to 9 and -']],
  async run({ output, hostHomeToChange }, name) {
    requireSpaceName(name, 'The argument')
    const space = await (await hostHomeToChange()).createSpace(name)
    output.result(space, [`Created space ${space.name}: ${space.url}`])
  },
})

export const takeOver = defineCommand({
  example: 'latchkey take-over --space dev',
  async run({ output, prompts, hostHomeToChange }) {
    const host = await hostHomeToChange()
    const space = host.space()
    await prompts.agree(`This ends the change of ${space} that is under way. It writes nothing any more.`)
    const { kind, by, since } = await host.takeOver()
    const who = by === null ? '' : ` by ${by}`
    output.result({ space, ended: { kind, by, since } }, [
      `Ended: ${kind}${who}, since ${since}.`,
      `${space} is kept for your next change, for a minute.`,
    ])
  },
})

export const removeSpace = defineCommand({
  example: 'latchkey remove-space dev',
  arguments: [['<space>', 'as latchkey spaces prints it']],
  options: [['--confirm <space>', 'The name of the space, instead of typing it']],
  async run({ output, prompts, hostHomeToChange }, name, { confirm }) {
    requireSpaceName(name, 'The argument')
    const host = await hostHomeToChange()
    const { url } = await host.readSpace(name)
    const question = `This removes the space ${name} (${url}) with its code, data, tokens and settings. It cannot be undone.`
    await host.removeSpace(name, await prompts.name(question, name, confirm))
    output.result({ name, removed: true }, [`Removed space ${name} with its code, data, tokens and settings.`])
  },
})
