import { z } from 'zod'
import { json } from '../../http/problem.js'
import type { Route } from '../../http/route.js'
import { defineControlRoute } from '../../routes/admin/control-route.js'
import { emailField } from '../../routes/fields.js'
import { changeRight, grantRight, listProjectUsers, removeProjectUser } from '../flows/people/project-users.js'
import { teamTokensSchema } from './admin-token-schema.js'
import { type FindPeople, leftTokens, whenRemoved } from './people-answers.js'

export const rightField = z.enum(['ADMIN', 'MEMBER'])

const userSchema = z
  .object({
    id: z.string(),
    email: z.string(),
    name: z.string().nullable(),
    right: rightField.nullable().describe('Their own right; null: by teams only.'),
    teams: z.array(z.object({ id: z.string(), name: z.string(), right: rightField })),
    inForce: rightField.nullable().describe('What they may do now; null until their address is verified.'),
  })
  .describe('A user of the project.')

/** The users of the project and their rights. */
export function projectUserRoutes(people: FindPeople): readonly Route[] {
  return [listRoute(people), grantRoute(people), changeRoute(people), removeRoute(people)]
}

function listRoute(people: FindPeople): Route {
  return defineControlRoute({
    method: 'GET',
    path: '/project/users',
    body: null,
    home: 'host',
    who: 'admin',
    command: 'project',
    summary: 'Lists the users of the project by address.',
    answers: { 200: z.array(userSchema) },
    handle: async () => json(200, await listProjectUsers(people())),
  })
}

function grantRoute(people: FindPeople): Route {
  return defineControlRoute({
    method: 'POST',
    path: '/project/users',
    body: z.strictObject({ email: emailField, right: rightField }),
    home: 'host',
    who: 'admin',
    recent: true,
    command: 'project add',
    form: { page: '/project', section: 'add', done: 'right_granted', keeps: ['email', 'right'] },
    summary:
      'Gives a user a right. An address without a verified account is invited, and has no right until it is verified.',
    answers: { 200: userSchema, 201: userSchema },
    errors: ['already_exists'],
    async handle({ ports, admin }, input) {
      const { user, isNew } = await grantRight({ ...ports, ...people() }, { ...input, visitor: admin.visitor })
      return json(isNew ? 201 : 200, user)
    },
  })
}

function changeRoute(people: FindPeople): Route {
  return defineControlRoute({
    method: 'PATCH',
    path: '/project/users/:id',
    body: z.strictObject({ right: rightField }),
    home: 'host',
    who: 'admin',
    recent: true,
    command: 'project set',
    form: { page: '/project', section: 'people', done: 'right_changed' },
    summary: 'Sets the right of a user of the project.',
    answers: { 200: userSchema },
    errors: ['not_found', 'last_admin'],
    async handle({ ports, params, admin }, { right }) {
      const input = { id: params.id ?? '', right, visitor: admin.visitor }
      return json(200, await changeRight({ ...ports, ...people() }, input))
    },
  })
}

function removeRoute(people: FindPeople): Route {
  return defineControlRoute({
    method: 'DELETE',
    path: '/project/users/:id',
    body: z.strictObject({ confirm: z.string().max(320).describe('The address of the account.') }),
    home: 'host',
    who: 'admin',
    recent: true,
    confirm: true,
    command: 'project remove',
    form: { page: '/project', section: 'people', ...whenRemoved('right_removed') },
    summary: 'Takes away the right and the memberships of a user. Answers with the team tokens that they made.',
    answers: { 200: teamTokensSchema, 204: null },
    errors: ['not_found', 'last_admin'],
    async handle({ ports, params, admin }, { confirm }) {
      const input = { id: params.id ?? '', confirm, visitor: admin.visitor }
      return leftTokens(await removeProjectUser({ ...ports, ...people() }, input))
    },
  })
}
