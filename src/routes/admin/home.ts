import type { z } from 'zod'
import { home, type homeSchema } from '../../contract/home.js'
import { readProfile } from '../../flows/account/profile.js'
import { interfaceVersion } from '../../http/openapi/document.js'
import { json } from '../../http/problem.js'
import { type CallerContext, defineTokenRoute } from './control-route.js'

export const readHomeRoute = defineTokenRoute({
  ...home.read,
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
