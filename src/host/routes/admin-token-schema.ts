import { z } from 'zod'
import { adminCommands } from '../../model/admin-command.js'
import { time } from '../../routes/answer-schemas.js'

export const commandField = z.enum(adminCommands)

export const adminTokenEntry = {
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

export const adminTokenSchema = z.object(adminTokenEntry).describe('An admin token, without its text.')

export const teamTokensSchema = z
  .object({ tokens: z.array(adminTokenSchema) })
  .describe('Admin tokens of teams that this user made. They go on working until they are removed.')
