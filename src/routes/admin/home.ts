import { z } from 'zod'
import { readProfile } from '../../flows/account/profile.js'
import { interfaceVersion } from '../../http/openapi/document.js'
import { json } from '../../http/problem.js'
import { defineControlRoute } from './control-route.js'

export const readHomeRoute = defineControlRoute({
  method: 'GET',
  path: '',
  body: null,
  who: 'member',
  command: 'whoami',
  summary: 'Tells what runs here, and who asks.',
  answers: {
    200: z.object({
      home: z.enum(['application', 'host']),
      version: z.string().describe('The version of the package.'),
      user: z.object({
        id: z.string(),
        email: z.string(),
        name: z.string().nullable(),
        right: z.enum(['ADMIN', 'MEMBER']),
      }),
    }),
  },
  async handle({ ports, admin, right }) {
    const { user } = await readProfile(ports, admin.principal)
    const { id, email, name } = user
    return json(200, { home: ports.home, version: interfaceVersion, user: { id, email, name, right } })
  },
})
