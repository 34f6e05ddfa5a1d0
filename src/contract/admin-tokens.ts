import { z } from 'zod'
import { adminCommands } from './admin-command.js'
import { optionalList, optionalText, time } from './fields.js'
import { defineOperations } from './operation.js'
import type { Entry } from './reading.js'

const commandField = z.enum(adminCommands)

const adminTokenEntry = {
  id: z.string(),
  start: z.string().describe('The first five characters of the token.'),
  name: z.string(),
  owner: z
    .object({ kind: z.enum(['personal', 'team']), id: z.string(), name: z.string() })
    .describe('Whose right it has: an account, named by its address, or a team.'),
  madeBy: z
    .object({ id: z.string(), email: z.string().nullable() })
    .describe('The address is null when the account is gone.'),
  spaces: z.array(z.string()).nullable().describe('Names of the spaces that it is for; null: all.'),
  commands: z.array(commandField).nullable().describe('Commands that it is for; null: all of them.'),
  cidrs: z.array(z.string()).describe('Networks that it is accepted from; empty: all.'),
  createdAt: time('When it was made.'),
  expiresAt: time('When it ends.').nullable(),
  lastUse: z
    .object({ day: z.string(), network: z.string().nullable() })
    .nullable()
    .describe('The day and the network of the last use, a few seconds late.'),
}

const adminTokenSchema = z.object(adminTokenEntry).describe('An admin token, without its text.')

/** An admin token without its text. Times are ISO 8601 in UTC. */
export type AdminTokenEntry = Entry<typeof adminTokenSchema>

export const teamTokensSchema = z
  .object({ tokens: z.array(adminTokenSchema) })
  .describe('Admin tokens of teams that this user made. They go on working until they are removed.')

const createdSchema = z
  .object({ ...adminTokenEntry, token: z.string().describe('The token itself. Later requests do not show it again.') })
  .describe('A new admin token.')

const entries = optionalList(z.string().max(100))

export const adminTokens = defineOperations({
  list: {
    method: 'GET',
    path: '/admintokens',
    body: null,
    home: 'host',
    who: 'admin',
    command: 'admintokens',
    summary: 'Lists the admin tokens, newest first.',
    answers: { 200: z.array(adminTokenSchema) },
  },
  create: {
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
    summary: 'Makes an admin token. Only this response contains it.',
    answers: { 201: createdSchema },
    errors: ['not_found', 'space_not_found'],
  },
  removeAll: {
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
  },
  remove: {
    method: 'DELETE',
    path: '/admintokens/:id',
    body: null,
    home: 'host',
    who: 'admin',
    command: 'remove-admintoken',
    summary: 'Removes an admin token.',
    answers: { 204: null },
    errors: ['not_found'],
  },
})
