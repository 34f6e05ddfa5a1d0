import { z } from 'zod'
import { readProfile } from '../../flows/account/profile.js'
import { interfaceVersion } from '../../http/openapi/document.js'
import { json } from '../../http/problem.js'
import { adminCommands } from '../../model/admin-command.js'
import { type CallerContext, defineTokenRoute } from './control-route.js'

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

export const readHomeRoute = defineTokenRoute({
  method: 'GET',
  path: '',
  body: null,
  who: 'member',
  adminToken: 'any',
  command: 'whoami',
  summary: 'Tells what runs here, and who asks.',
  answers: { 200: homeSchema },
  handle: async (context) => json(200, await homeAnswer(context)),
})

export async function homeAnswer({
  ports,
  caller,
}: Pick<CallerContext, 'ports' | 'caller'>): Promise<z.output<typeof homeSchema>> {
  const here = { home: ports.home, version: interfaceVersion }
  if (caller.kind === 'adminToken') {
    const { tokenId, name, spaces, commands } = caller.token
    return {
      ...here,
      adminToken: { id: tokenId, name, spaces: spaces && [...spaces], commands: commands && [...commands] },
    }
  }
  const { user } = await readProfile(ports, caller.principal)
  const { id, email, name } = user
  return { ...here, user: { id, email, name, right: caller.right } }
}
