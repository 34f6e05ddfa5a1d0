import { defineCommand } from '../command.js'
import type { Team } from '../host-home.js'
import { ToolError, usage } from '../tool-error.js'
import { type Columns, printList } from './lists.js'
import { requireRight, requireTokensChoice, rightOption, settleLeftTokens, teamOf, tokensOption } from './people.js'

const columns: Columns<Team> = {
  NAME: ({ name }) => name,
  RIGHT: ({ right }) => right,
  MEMBERS: ({ members }) => members.map(({ email }) => email).join(', ') || 'none',
  ID: ({ id }) => id,
}

export const teams = defineCommand({
  example: 'latchkey teams',
  async run({ output, hostHome }) {
    const none = 'There are no teams. Create one with: latchkey teams create <name>'
    printList(output, await (await hostHome()).listTeams(), columns, { none })
  },
})

export const createTeam = defineCommand({
  example: 'latchkey teams create deployers --right ADMIN',
  arguments: [['<name>', 'of the team']],
  options: [[rightOption, 'ADMIN or MEMBER, which its members inherit', { initial: 'MEMBER' }]],
  async run({ output, hostHomeToChange }, name, { right }) {
    const wanted = requireRight(right)
    const team = await (await hostHomeToChange()).createTeam({ name, right: wanted })
    output.result(team, [`Created team ${team.name} with the right ${team.right}.`])
  },
})

export const setTeam = defineCommand({
  example: 'latchkey teams set deployers --right MEMBER',
  arguments: [['<team>', 'name or id']],
  options: [
    [rightOption, 'ADMIN or MEMBER, which its members inherit'],
    ['--name <name>', 'A new name'],
  ],
  async run({ output, hostHomeToChange }, nameOrId, { right, name }) {
    if (right === undefined && name === undefined) throw usage('Give --right, --name or both.')
    const changes = { ...(name !== undefined && { name }), ...(right !== undefined && { right: requireRight(right) }) }
    const host = await hostHomeToChange()
    const { id } = await teamOf(host, nameOrId)
    const team = await host.changeTeam(id, changes)
    output.result(team, [`Team ${team.name} has the right ${team.right}.`])
  },
})

export const removeTeam = defineCommand({
  example: 'latchkey teams remove deployers',
  arguments: [['<team>', 'name or id']],
  options: [['--confirm <name>', 'The name of the team, instead of typing it']],
  async run({ output, prompts, hostHomeToChange }, nameOrId, { confirm }) {
    const host = await hostHomeToChange()
    const { id, name } = await teamOf(host, nameOrId)
    const question = `This removes the team ${name} with its memberships and its admin tokens.`
    await host.removeTeam(id, await prompts.name(question, name, confirm))
    output.result({ id, name, removed: true }, [`Removed team ${name} with its admin tokens.`])
  },
})

export const addMember = defineCommand({
  example: 'latchkey teams add-user deployers ann@example.org',
  arguments: [
    ['<team>', 'name or id'],
    ['<address>', 'of the person; one without an account is invited'],
  ],
  async run({ output, hostHomeToChange }, nameOrId, address) {
    const host = await hostHomeToChange()
    const team = await host.addTeamMember((await teamOf(host, nameOrId)).id, address)
    output.result(team, [`${address} is a member of team ${team.name}.`])
  },
})

export const removeMember = defineCommand({
  example: 'latchkey teams remove-user deployers ann@example.org',
  arguments: [
    ['<team>', 'name or id'],
    ['<user>', 'address or id'],
  ],
  options: [[tokensOption, 'What becomes of the tokens of the team that they made']],
  async run(tool, nameOrId, user, options) {
    const choice = requireTokensChoice(options.tokens)
    const host = await tool.hostHomeToChange()
    const team = await teamOf(host, nameOrId)
    const member = team.members.find(({ id, email }) => id === user || email.toLowerCase() === user.toLowerCase())
    if (member === undefined) throw new ToolError(1, 'not_found', `${user} is no member of team ${team.name}.`)
    const { id, email } = member
    const tokens = await host.removeTeamMember(team.id, id)
    const removedTokens = await settleLeftTokens(tool, host, { tokens, choice, email })
    const value = { team: team.name, id, email, removed: true, removedTokens }
    tool.output.result(value, [`${email} is no member of team ${team.name} any more.`])
  },
})
