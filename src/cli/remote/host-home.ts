import type { Address } from '../address.js'
import type { HomeDescription } from '../home.js'
import type { AdminTokenLine, HostHome } from '../host-home.js'
import { ToolError } from '../tool-error.js'
import { backupCalls } from './backup-calls.js'
import { type Client, path } from './calls.js'
import { dataCalls } from './collection-calls.js'
import { createRun, type Run } from './contract-calls.js'
import { contract } from './contract-table.js'
import { createScope } from './scope.js'
import { spaceCalls } from './space-calls.js'

/**
 * The space host behind a control API. Each member is one route.
 *
 * @param chooseSpace as options, environment and files say
 * @throws {ToolError} `not_here` when it is no host
 */
export async function openHostHome(client: Client, address: Address, chooseSpace: () => string): Promise<HostHome> {
  const { describe } = createScope(client, address, chooseSpace)
  requireHost(await describe(), address)
  const below = () => path('spaces', chooseSpace())
  const run = createRun(client, address, (target) => `${below()}${target}`)
  return {
    target: `remote ${address.site} ${client.caller}`,
    space: chooseSpace,
    describe,
    ...spacesCalls(run),
    ...peopleCalls(run),
    ...teamCalls(run),
    ...tokenCalls(run),
    ...spaceCalls(run, client, address, chooseSpace),
    ...dataCalls(client, address, below),
    ...backupCalls(client, address, below),
  }
}

function requireHost({ home }: HomeDescription, { site }: Address): void {
  if (home === 'host') return
  throw new ToolError(4, 'not_here', `${site} is an application. This command needs a space host, see: latchkey serve.`)
}

const spaceFields = {
  name: true,
  url: true,
  createdAt: true,
  release: true,
  state: true,
  memoryBytes: true,
  restarts: true,
} as const

function spacesCalls(run: Run) {
  const { list, read, create, remove } = contract.spaces
  return {
    listSpaces: (query) => run(list, { query }, spaceFields),
    readSpace: (space) => run(read, { params: { space } }, spaceFields),
    createSpace: (name) => run(create, { body: { name } }, spaceFields),
    removeSpace: (space, confirm) => run(remove, { params: { space }, body: { confirm } }),
  } satisfies Partial<HostHome>
}

function peopleCalls(run: Run) {
  const { list, grant, change, remove } = contract.projectUsers
  return {
    listProjectUsers: () => run(list),
    grantRight: (email, right) => run(grant, { body: { email, right } }),
    changeRight: (id, right) => run(change, { params: { id }, body: { right } }),
    removeProjectUser: async (id, confirm) => leftTokens(await run(remove, { params: { id }, body: { confirm } })),
  } satisfies Partial<HostHome>
}

function teamCalls(run: Run) {
  const { list, create, change, remove, addMember, removeMember } = contract.teams
  return {
    listTeams: () => run(list),
    createTeam: (body) => run(create, { body }),
    changeTeam: (id, body) => run(change, { params: { id }, body }),
    removeTeam: (id, confirm) => run(remove, { params: { id }, body: { confirm } }),
    addTeamMember: (id, email) => run(addMember, { params: { id }, body: { email } }),
    removeTeamMember: async (id, userId) => leftTokens(await run(removeMember, { params: { id, userId } })),
  } satisfies Partial<HostHome>
}

function tokenCalls(run: Run) {
  const { list, create, remove, removeAll } = contract.adminTokens
  return {
    listAdminTokens: () => run(list),
    createAdminToken: (body) => run(create, { body }),
    removeAdminToken: (id) => run(remove, { params: { id } }),
    removeAllAdminTokens: async () => (await run(removeAll, { body: { confirm: 'all' } })).removed,
  } satisfies Partial<HostHome>
}

/** An empty answer says that there are no such tokens. */
function leftTokens(answer: { tokens: readonly AdminTokenLine[] } | undefined): readonly AdminTokenLine[] {
  return answer?.tokens ?? []
}
