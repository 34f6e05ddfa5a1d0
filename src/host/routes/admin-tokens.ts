import { z } from 'zod'
import { empty, json } from '../../http/problem.js'
import type { Route } from '../../http/route.js'
import { defineControlRoute } from '../../routes/admin/control-route.js'
import { optionalList, optionalText } from '../../routes/admin/fields.js'
import {
  createAdminToken,
  listAdminTokens,
  removeAdminToken,
  removeAllAdminTokens,
} from '../flows/people/admin-tokens.js'
import { adminTokenEntry, adminTokenSchema, commandField } from './admin-token-schema.js'
import { showAdminToken } from './pages/admin-tokens.js'
import type { FindPeople } from './people-answers.js'

const createdSchema = z
  .object({ ...adminTokenEntry, token: z.string().describe('The token itself. Later requests do not show it again.') })
  .describe('A new admin token.')
const entries = optionalList(z.string().max(100))

/** The admin tokens of the project. Every administrator sees and removes all of them. */
export function adminTokenRoutes(people: FindPeople): readonly Route[] {
  return [listRoute(people), createRoute(people), removeAllRoute(people), removeRoute(people)]
}

function listRoute(people: FindPeople): Route {
  return defineControlRoute({
    method: 'GET',
    path: '/admintokens',
    body: null,
    home: 'host',
    who: 'admin',
    command: 'admintokens',
    summary: 'Lists the admin tokens, newest first.',
    answers: { 200: z.array(adminTokenSchema) },
    handle: async () => json(200, await listAdminTokens(people())),
  })
}

function createRoute(people: FindPeople): Route {
  return defineControlRoute({
    method: 'POST',
    path: '/admintokens',
    body: z.strictObject({
      owner: z.string().max(64).describe('`personal`, or the id of a team that you are a member of.'),
      name: optionalText.describe('One line of at most 100 characters.'),
      expiresAt: optionalText.nullable().describe('ISO 8601; null: never. Default: in 365 days.'),
      cidrs: entries.describe('Networks that it is accepted from. Default: all.'),
      spaces: entries.describe('Names of the spaces that it is for. Default: all.'),
      commands: optionalList(commandField).describe(
        'Commands that it is for. `deploy` runs code in the space, so it reads the environment and the data.',
      ),
    }),
    home: 'host',
    who: 'admin',
    recent: true,
    command: 'add-admintoken',
    form: {
      page: '/admin-tokens',
      section: 'create',
      keeps: ['owner', 'name', 'expiresAt', 'cidrs', 'spaces', 'commands'],
      ownAnswer: true,
    },
    summary: 'Makes an admin token. Only this response contains it.',
    answers: { 201: createdSchema },
    errors: ['not_found', 'space_not_found'],
    async handle(context, input) {
      const { ports, admin, asPage } = context
      const asked = { input, userId: admin.principal.userId, visitor: admin.visitor }
      const created = await createAdminToken({ ...ports, ...people() }, asked)
      return asPage ? showAdminToken(context, created) : json(201, created)
    },
  })
}

function removeAllRoute(people: FindPeople): Route {
  return defineControlRoute({
    method: 'DELETE',
    path: '/admintokens',
    body: z.strictObject({ confirm: z.string().max(10).describe('`all`') }),
    home: 'host',
    who: 'admin',
    recent: true,
    confirm: true,
    command: 'remove-admintoken',
    summary: 'Removes every admin token of the project in one step.',
    answers: { 200: z.object({ removed: z.number().int().describe('How many there were.') }) },
    async handle({ ports, admin }, { confirm }) {
      const asked = { confirm, visitor: admin.visitor }
      return json(200, { removed: await removeAllAdminTokens({ ...ports, ...people() }, asked) })
    },
  })
}

function removeRoute(people: FindPeople): Route {
  return defineControlRoute({
    method: 'DELETE',
    path: '/admintokens/:id',
    body: null,
    home: 'host',
    who: 'admin',
    command: 'remove-admintoken',
    form: { page: '/admin-tokens', section: 'tokens', done: 'token_removed' },
    summary: 'Removes an admin token.',
    answers: { 204: null },
    errors: ['not_found'],
    async handle({ ports, params, admin }) {
      await removeAdminToken({ ...ports, ...people() }, { id: params.id ?? '', visitor: admin.visitor })
      return empty(204)
    },
  })
}
