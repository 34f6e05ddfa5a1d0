import { z } from 'zod'
import { readProfile } from '../../flows/account/profile.js'
import { interfaceVersion } from '../../http/openapi/document.js'
import { json } from '../../http/problem.js'
import { adminCommands } from '../../model/admin-command.js'
import { defineTokenRoute } from './control-route.js'

export const readHomeRoute = defineTokenRoute({
  method: 'GET',
  path: '',
  body: null,
  who: 'member',
  adminToken: 'any',
  command: 'whoami',
  summary: 'Tells what runs here, and who asks.',
  answers: {
    200: z.object({
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
    }),
  },
  async handle({ ports, caller }) {
    const here = { home: ports.home, version: interfaceVersion }
    if (caller.kind === 'adminToken') {
      const { tokenId, name, spaces, commands } = caller.token
      return json(200, { ...here, adminToken: { id: tokenId, name, spaces, commands } })
    }
    const { user } = await readProfile(ports, caller.principal)
    const { id, email, name } = user
    return json(200, { ...here, user: { id, email, name, right: caller.right } })
  },
})
