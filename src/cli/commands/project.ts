import { defineCommand } from '../command.js'
import type { ProjectUserLine } from '../host-home.js'
import { type Columns, printList } from './lists.js'
import {
  projectUserOf,
  requireRight,
  requireTokensChoice,
  rightOption,
  settleLeftTokens,
  tokensOption,
} from './people.js'

const columns: Columns<ProjectUserLine> = {
  EMAIL: ({ email }) => email,
  NAME: ({ name }) => name,
  RIGHT: ({ right }) => right ?? 'none',
  TEAMS: ({ teams }) => teams.map(({ name, right }) => `${name} (${right})`).join(', ') || 'none',
  'IN FORCE': ({ inForce }) => inForce ?? 'none, address not verified',
}

export const project = defineCommand({
  example: 'latchkey project',
  async run({ output, hostHome }) {
    printList(output, await (await hostHome()).listProjectUsers(), columns)
  },
})

export const addUser = defineCommand({
  example: 'latchkey project add ann@example.org --right ADMIN',
  arguments: [['<address>', 'of the person; one without an account is invited']],
  options: [[rightOption, 'ADMIN or MEMBER', { initial: 'MEMBER' }]],
  async run({ output, hostHomeToChange }, address, { right }) {
    const wanted = requireRight(right)
    const user = await (await hostHomeToChange()).grantRight(address, wanted)
    const waits = user.inForce === null ? ['It counts once the address is verified: an invitation is in the mail.'] : []
    output.result(user, [`${user.email} has the right ${wanted} on the project.`, ...waits])
  },
})

export const setUser = defineCommand({
  example: 'latchkey project set ann@example.org --right MEMBER',
  arguments: [['<user>', 'address or id']],
  options: [[rightOption, 'ADMIN or MEMBER']],
  async run({ output, hostHomeToChange }, user, { right }) {
    const wanted = requireRight(right)
    const host = await hostHomeToChange()
    const { id } = await projectUserOf(host, user)
    const changed = await host.changeRight(id, wanted)
    output.result(changed, [`${changed.email} has the right ${wanted} on the project.`])
  },
})

export const removeUser = defineCommand({
  example: 'latchkey project remove ann@example.org',
  arguments: [['<user>', 'address or id']],
  options: [
    ['--confirm <address>', 'The address of the account, instead of typing it'],
    [tokensOption, 'What becomes of the team tokens that they made'],
  ],
  async run(tool, user, options) {
    const choice = requireTokensChoice(options.tokens)
    const host = await tool.hostHomeToChange()
    const { id, email } = await projectUserOf(host, user)
    const question = `This takes the right and the teams of ${email} away.`
    const tokens = await host.removeProjectUser(id, await tool.prompts.name(question, email, options.confirm))
    const removedTokens = await settleLeftTokens(tool, host, { tokens, choice, email })
    tool.output.result({ id, email, removed: true, removedTokens }, [`${email} is no user of the project any more.`])
  },
})
