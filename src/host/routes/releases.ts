import { z } from 'zod'
import { empty, json } from '../../http/problem.js'
import type { Route } from '../../http/route.js'
import { defineControlRoute } from '../../routes/admin/control-route.js'
import { confirmField } from '../../routes/admin/fields.js'
import { time } from '../../routes/answer-schemas.js'
import { listReleases, undeploy } from '../flows/releases.js'
import type { SpacePorts } from '../flows/space-ports.js'
import { actorSchema } from './actor-schema.js'

const releaseSchema = z
  .object({
    number: z.number(),
    state: z.enum(['current', 'starting', 'failed', 'former']),
    sha256: z.string().describe('Of `bundle.mjs`.'),
    bytes: z.number().describe('Of all its files.'),
    git: z.object({ hash: z.string(), branch: z.string().nullable() }).nullable(),
    dirty: z.boolean().nullable().describe('Whether files had changed since the commit.'),
    tool: z.string().describe('The version of the tool that made it.'),
    author: actorSchema.describe('Who deployed it.'),
    createdAt: time('When it was deployed.'),
    fault: z.string().nullable().describe('Why it did not start.'),
  })
  .describe('A release of a space.')

/** Routes without streams. @param ports those of the running host */
export function releaseRoutes(ports: () => SpacePorts): readonly Route[] {
  return [
    defineControlRoute({
      method: 'GET',
      path: '/spaces/:space/releases',
      body: null,
      home: 'host',
      who: 'member',
      command: 'deploy',
      summary: 'Lists the releases of a space, newest first.',
      answers: { 200: z.object({ items: z.array(releaseSchema) }) },
      errors: ['space_not_found'],
      handle: async ({ params }) => json(200, { items: await listReleases(ports(), params.space ?? '') }),
    }),
    defineControlRoute({
      method: 'DELETE',
      path: '/spaces/:space/releases/current',
      body: z.strictObject({ confirm: confirmField.describe('The name of the space.') }),
      home: 'host',
      who: 'admin',
      confirm: true,
      command: 'undeploy',
      summary: 'Takes the code of a space away. Data, tokens and settings stay.',
      answers: { 204: null },
      errors: ['not_found', 'space_not_found', 'space_busy', 'not_current'],
      async handle({ params, admin }, { confirm }) {
        await undeploy(ports(), { space: params.space ?? '', confirm, visitor: admin.visitor })
        return empty(204)
      },
    }),
  ]
}
