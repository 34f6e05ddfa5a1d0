import { type Fields, listIn } from '../../lib/json-fields.js'
import { parseJson } from '../../lib/json-object.js'
import type { Address } from '../address.js'
import type { HomeDescription } from '../home.js'
import type { HostHome } from '../host-home.js'
import { ToolError } from '../tool-error.js'
import { readPage } from './answers.js'
import { backupCalls } from './backup-calls.js'
import { type Call, type Client, path } from './calls.js'
import { dataCalls } from './collection-calls.js'
import {
  readAdminToken,
  readCreatedAdminToken,
  readProjectUser,
  readRemovedCount,
  readSpace,
  readTeam,
} from './host-answers.js'
import { createScope } from './scope.js'
import { readAnswer } from './send.js'
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
  return {
    target: `remote ${address.site} ${client.caller}`,
    space: chooseSpace,
    describe,
    ...spacesCalls(client),
    ...peopleCalls(client, address),
    ...teamCalls(client, address),
    ...tokenCalls(client, address),
    ...spaceCalls(client, address, below),
    ...dataCalls(client, address, below),
    ...backupCalls(client, address, below),
  }
}

function requireHost({ home }: HomeDescription, { site }: Address): void {
  if (home === 'host') return
  throw new ToolError(4, 'not_here', `${site} is an application. This command needs a space host, see: latchkey serve.`)
}

function spacesCalls(client: Client) {
  return {
    listSpaces: (page) =>
      client.call({ method: 'GET', path: '/spaces', query: { ...page } }, (fields) => readPage(fields, readSpace)),
    readSpace: (name) => client.call({ method: 'GET', path: path('spaces', name) }, readSpace),
    createSpace: (name) => client.call({ method: 'POST', path: '/spaces', body: { name } }, readSpace),
    async removeSpace(name, confirm) {
      await client.answer({ method: 'DELETE', path: path('spaces', name), body: { confirm } })
    },
  } satisfies Partial<HostHome>
}

function peopleCalls(client: Client, address: Address) {
  return {
    listProjectUsers: () => listOf(client, address, '/project/users', readProjectUser),
    grantRight: (email, right) =>
      client.call({ method: 'POST', path: '/project/users', body: { email, right } }, readProjectUser),
    changeRight: (id, right) =>
      client.call({ method: 'PATCH', path: path('project', 'users', id), body: { right } }, readProjectUser),
    removeProjectUser: (id, confirm) =>
      leftTokens(client, address, { method: 'DELETE', path: path('project', 'users', id), body: { confirm } }),
  } satisfies Partial<HostHome>
}

function teamCalls(client: Client, address: Address) {
  return {
    listTeams: () => listOf(client, address, '/teams', readTeam),
    createTeam: (body) => client.call({ method: 'POST', path: '/teams', body }, readTeam),
    changeTeam: (id, body) => client.call({ method: 'PATCH', path: path('teams', id), body }, readTeam),
    async removeTeam(id, confirm) {
      await client.answer({ method: 'DELETE', path: path('teams', id), body: { confirm } })
    },
    addTeamMember: (id, email) =>
      client.call({ method: 'POST', path: path('teams', id, 'members'), body: { email } }, readTeam),
    removeTeamMember: (id, userId) =>
      leftTokens(client, address, { method: 'DELETE', path: path('teams', id, 'members', userId) }),
  } satisfies Partial<HostHome>
}

function tokenCalls(client: Client, address: Address) {
  return {
    listAdminTokens: () => listOf(client, address, '/admintokens', readAdminToken),
    createAdminToken: (body) => client.call({ method: 'POST', path: '/admintokens', body }, readCreatedAdminToken),
    async removeAdminToken(id) {
      await client.answer({ method: 'DELETE', path: path('admintokens', id) })
    },
    removeAllAdminTokens: () =>
      client.call({ method: 'DELETE', path: '/admintokens', body: { confirm: 'all' } }, readRemovedCount),
  } satisfies Partial<HostHome>
}

/** A list that is no page, because it is short. */
async function listOf<T>(
  client: Client,
  { site }: Address,
  target: string,
  read: (item: Fields) => T,
): Promise<readonly T[]> {
  const { text } = await client.answer({ method: 'GET', path: target })
  return readAnswer({ text: JSON.stringify({ list: parseJson(text) ?? null }) }, site, (fields) =>
    listIn(fields, 'list', read),
  )
}

/** An empty answer says that there are no such tokens. */
async function leftTokens(client: Client, { site }: Address, call: Call) {
  const { status, text } = await client.answer(call)
  return status === 204 ? [] : readAnswer({ text }, site, (fields) => listIn(fields, 'tokens', readAdminToken))
}
