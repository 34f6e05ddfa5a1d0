import { z } from 'zod'
import { adminCommands } from './admin-command.js'
import { defineOperations } from './operation.js'

/** What every home says of itself. */
export const homeSchema = z.object({
  home: z.enum(['application', 'host']),
  version: z.string().describe('The version of the package.'),
  user: z
    .object({
      id: z.string(),
      email: z.string(),
      name: z.string().nullable(),
      right: z.enum(['ADMIN', 'MEMBER']),
    })
    .optional()
    .describe('Absent for an admin token.'),
  adminToken: z
    .object({
      id: z.string(),
      name: z.string(),
      spaces: z.array(z.string()).nullable().describe('Ids of the spaces that it is narrowed to; null: all.'),
      commands: z.array(z.enum(adminCommands)).nullable().describe('Commands that it is narrowed to; null: all.'),
    })
    .optional()
    .describe('In the host: the admin token that asks.'),
})

const spaceSchema = z.object({ name: z.string(), url: z.string(), release: z.number().nullable() })

export const home = defineOperations({
  read: {
    method: 'GET',
    path: '',
    body: null,
    who: 'member',
    adminToken: 'any',
    command: 'whoami',
    summary: 'Tells what runs here, and who asks.',
    answers: { 200: homeSchema },
  },
  readHost: {
    method: 'GET',
    path: '',
    body: null,
    home: 'host',
    who: 'member',
    adminToken: 'any',
    command: 'whoami',
    summary: 'Tells what runs here, who asks, and which spaces there are.',
    answers: {
      200: homeSchema.extend({
        project: z.string(),
        spaces: z.array(spaceSchema).describe('An admin token gets those that it may be used for.'),
      }),
    },
  },
})
