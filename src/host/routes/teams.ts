import { z } from 'zod'
import { empty, json } from '../../http/problem.js'
import type { Route } from '../../http/route.js'
import { defineControlRoute } from '../../routes/admin/control-route.js'
import { time } from '../../routes/answer-schemas.js'
import { emailField } from '../../routes/fields.js'
import {
  addTeamMember,
  changeTeam,
  createTeam,
  listTeams,
  removeTeam,
  removeTeamMember,
} from '../flows/people/teams.js'
import { teamTokensSchema } from './admin-token-schema.js'
import { type FindPeople, leftTokens, whenRemoved } from './people-answers.js'
import { rightField } from './users.js'

const teamSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    right: rightField.describe('What its members may do.'),
    createdAt: time('When it was created.'),
    members: z.array(z.object({ id: z.string(), email: z.string(), name: z.string().nullable() })),
  })
  .describe('A team.')
const teamName = z.string().max(200).describe('One line of at most 100 characters, unique.')

/** Teams and their members. */
export function teamRoutes(people: FindPeople): readonly Route[] {
  return [
    listRoute(people),
    createRoute(people),
    changeRoute(people),
    removeRoute(people),
    addMemberRoute(people),
    removeMemberRoute(people),
  ]
}

function listRoute(people: FindPeople): Route {
  return defineControlRoute({
    method: 'GET',
    path: '/teams',
    body: null,
    home: 'host',
    who: 'admin',
    command: 'teams',
    summary: 'Lists the teams by name.',
    answers: { 200: z.array(teamSchema) },
    handle: async () => json(200, await listTeams(people())),
  })
}

function createRoute(people: FindPeople): Route {
  return defineControlRoute({
    method: 'POST',
    path: '/teams',
    body: z.strictObject({ name: teamName, right: rightField }),
    home: 'host',
    who: 'admin',
    recent: true,
    command: 'teams create',
    form: { page: '/project', section: 'new-team', done: 'team_created', keeps: ['name'] },
    summary: 'Creates a team.',
    answers: { 201: teamSchema },
    errors: ['already_exists'],
    async handle({ ports, admin }, input) {
      return json(201, await createTeam({ ...ports, ...people() }, { ...input, visitor: admin.visitor }))
    },
  })
}

function changeRoute(people: FindPeople): Route {
  return defineControlRoute({
    method: 'PATCH',
    path: '/teams/:id',
    body: z.strictObject({ name: teamName.optional(), right: rightField.optional() }),
    home: 'host',
    who: 'admin',
    recent: true,
    command: 'teams set',
    form: { page: '/project', section: 'teams', done: 'team_changed' },
    summary: 'Sets the name or the right of a team.',
    answers: { 200: teamSchema },
    errors: ['not_found', 'already_exists', 'last_admin'],
    async handle({ ports, params, admin }, changes) {
      const input = { id: params.id ?? '', changes, visitor: admin.visitor }
      return json(200, await changeTeam({ ...ports, ...people() }, input))
    },
  })
}

function removeRoute(people: FindPeople): Route {
  return defineControlRoute({
    method: 'DELETE',
    path: '/teams/:id',
    body: z.strictObject({ confirm: z.string().max(200).describe('The name of the team.') }),
    home: 'host',
    who: 'admin',
    recent: true,
    confirm: true,
    command: 'teams remove',
    form: { page: '/project', section: 'teams', done: 'team_removed' },
    summary: 'Removes a team with its memberships and its admin tokens.',
    answers: { 204: null },
    errors: ['not_found', 'last_admin'],
    async handle({ ports, params, admin }, { confirm }) {
      const input = { id: params.id ?? '', confirm, visitor: admin.visitor }
      await removeTeam({ ...ports, ...people() }, input)
      return empty(204)
    },
  })
}

function addMemberRoute(people: FindPeople): Route {
  return defineControlRoute({
    method: 'POST',
    path: '/teams/:id/members',
    body: z.strictObject({ email: emailField }),
    home: 'host',
    who: 'admin',
    recent: true,
    command: 'teams add-user',
    form: { page: '/project', section: 'teams', done: 'member_added' },
    summary: 'Adds a user to a team. An address without a verified account is invited.',
    answers: { 200: teamSchema, 201: teamSchema },
    errors: ['not_found'],
    async handle({ ports, params, admin }, { email }) {
      const input = { id: params.id ?? '', email, visitor: admin.visitor }
      const { team, isNew } = await addTeamMember({ ...ports, ...people() }, input)
      return json(isNew ? 201 : 200, team)
    },
  })
}

function removeMemberRoute(people: FindPeople): Route {
  return defineControlRoute({
    method: 'DELETE',
    path: '/teams/:id/members/:userId',
    body: null,
    home: 'host',
    who: 'admin',
    recent: true,
    command: 'teams remove-user',
    form: { page: '/project', section: 'teams', ...whenRemoved('member_removed') },
    summary: 'Takes a user out of a team. Answers with the tokens of the team that they made.',
    answers: { 200: teamTokensSchema, 204: null },
    errors: ['not_found', 'last_admin'],
    async handle({ ports, params, admin }) {
      const input = { id: params.id ?? '', userId: params.userId ?? '', visitor: admin.visitor }
      return leftTokens(await removeTeamMember({ ...ports, ...people() }, input))
    },
  })
}
