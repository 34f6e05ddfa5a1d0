import { z } from 'zod'
import { teamTokensSchema } from './admin-tokens.js'
import { emailField, time } from './fields.js'
import { defineOperations } from './operation.js'

const rightField = z.enum(['ADMIN', 'MEMBER'])

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

export const projectUsers = defineOperations({
  list: {
    method: 'GET',
    path: '/project/users',
    body: null,
    home: 'host',
    who: 'admin',
    command: 'project',
    summary: 'Lists the users of the project by address.',
    answers: { 200: z.array(userSchema) },
  },
  grant: {
    method: 'POST',
    path: '/project/users',
    body: z.strictObject({ email: emailField, right: rightField }),
    home: 'host',
    who: 'admin',
    recent: true,
    command: 'project add',
    summary:
      'Gives a user a right. An address without a verified account is invited, and has no right until it is verified.',
    answers: { 200: userSchema, 201: userSchema },
    errors: ['already_exists'],
  },
  change: {
    method: 'PATCH',
    path: '/project/users/:id',
    body: z.strictObject({ right: rightField }),
    home: 'host',
    who: 'admin',
    recent: true,
    command: 'project set',
    summary: 'Sets the right of a user of the project.',
    answers: { 200: userSchema },
    errors: ['not_found', 'last_admin'],
  },
  remove: {
    method: 'DELETE',
    path: '/project/users/:id',
    body: z.strictObject({ confirm: z.string().max(320).describe('The address of the account.') }),
    home: 'host',
    who: 'admin',
    recent: true,
    confirm: true,
    command: 'project remove',
    summary: 'Takes away the right and the memberships of a user. Answers with the team tokens that they made.',
    answers: { 200: teamTokensSchema, 204: null },
    errors: ['not_found', 'last_admin'],
  },
})

export const teams = defineOperations({
  list: {
    method: 'GET',
    path: '/teams',
    body: null,
    home: 'host',
    who: 'admin',
    command: 'teams',
    summary: 'Lists the teams by name.',
    answers: { 200: z.array(teamSchema) },
  },
  create: {
    method: 'POST',
    path: '/teams',
    body: z.strictObject({ name: teamName, right: rightField }),
    home: 'host',
    who: 'admin',
    recent: true,
    command: 'teams create',
    summary: 'Creates a team.',
    answers: { 201: teamSchema },
    errors: ['already_exists'],
  },
  change: {
    method: 'PATCH',
    path: '/teams/:id',
    body: z.strictObject({ name: teamName.optional(), right: rightField.optional() }),
    home: 'host',
    who: 'admin',
    recent: true,
    command: 'teams set',
    summary: 'Sets the name or the right of a team.',
    answers: { 200: teamSchema },
    errors: ['not_found', 'already_exists', 'last_admin'],
  },
  remove: {
    method: 'DELETE',
    path: '/teams/:id',
    body: z.strictObject({ confirm: z.string().max(200).describe('The name of the team.') }),
    home: 'host',
    who: 'admin',
    recent: true,
    confirm: true,
    command: 'teams remove',
    summary: 'Removes a team with its memberships and its admin tokens.',
    answers: { 204: null },
    errors: ['not_found', 'last_admin'],
  },
  addMember: {
    method: 'POST',
    path: '/teams/:id/members',
    body: z.strictObject({ email: emailField }),
    home: 'host',
    who: 'admin',
    recent: true,
    command: 'teams add-user',
    summary: 'Adds a user to a team. An address without a verified account is invited.',
    answers: { 200: teamSchema, 201: teamSchema },
    errors: ['not_found'],
  },
  removeMember: {
    method: 'DELETE',
    path: '/teams/:id/members/:userId',
    body: null,
    home: 'host',
    who: 'admin',
    recent: true,
    command: 'teams remove-user',
    summary: 'Takes a user out of a team. Answers with the tokens of the team that they made.',
    answers: { 200: teamTokensSchema, 204: null },
    errors: ['not_found', 'last_admin'],
  },
})
