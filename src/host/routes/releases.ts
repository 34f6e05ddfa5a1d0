import { z } from 'zod'
import { empty, json } from '../../http/problem.js'
import type { Route } from '../../http/route.js'
import { ndjson } from '../../http/streams/ndjson.js'
import type { ReleaseLimits } from '../../model/release.js'
import { defineTokenRoute } from '../../routes/admin/control-route.js'
import { confirmField } from '../../routes/admin/fields.js'
import { time } from '../../routes/answer-schemas.js'
import type { SpacePorts } from '../flows/spaces/ports.js'
import { listReleases, undeploy } from '../flows/spaces/releases.js'
import { actorSchema } from './actor-schema.js'
import { activateAtOnce, activateRows, deployRows } from './streams.js'

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

/** Below `/spaces/:space`, so that a token which is narrowed to spaces is judged. @param ports those of the running host */
export function releaseRoutes(ports: () => SpacePorts): readonly Route[] {
  return [
    defineTokenRoute({
      method: 'GET',
      path: '/releases',
      body: null,
      home: 'space',
      who: 'member',
      command: 'deploy',
      adminToken: 'deploy',
      summary: 'Lists the releases of a space, newest first.',
      answers: { 200: z.object({ items: z.array(releaseSchema) }) },
      errors: ['space_not_found'],
      handle: async ({ params }) => json(200, { items: await listReleases(ports(), params.space ?? '') }),
    }),
    ...switchingRoutes(ports),
    defineTokenRoute({
      method: 'DELETE',
      path: '/releases/current',
      body: z.strictObject({ confirm: confirmField.describe('The name of the space.') }),
      home: 'space',
      who: 'admin',
      confirm: true,
      command: 'undeploy',
      form: { page: '/releases', section: 'undeploy', done: 'undeployed' },
      adminToken: 'undeploy',
      summary: 'Takes the code of a space away. Data, tokens and settings stay.',
      answers: { 204: null },
      errors: ['not_found', 'space_not_found', 'space_busy', 'not_current'],
      async handle({ params, caller }, { confirm }) {
        await undeploy(ports(), { space: params.space ?? '', confirm, visitor: caller.visitor })
        return empty(204)
      },
    }),
  ]
}

/** They answer with a row for each step. */
function switchingRoutes(ports: () => SpacePorts): readonly Route[] {
  return [
    defineTokenRoute({
      method: 'POST',
      path: '/releases',
      body: null,
      home: 'space',
      who: 'admin',
      command: 'deploy',
      adminToken: 'deploy',
      streams: 'both',
      summary: 'Deploys an archive, and answers with each step.',
      answers: { 200: 'lines' },
      errors: ['space_not_found'],
      async handle(context) {
        const { params, request, caller } = context
        const asked = { params, request, visitor: caller.visitor, context }
        return ndjson(context, deployRows(ports(), asked, context.upload(mostBytes(ports().limits.release))))
      },
    }),
    defineTokenRoute({
      method: 'POST',
      path: '/releases/:n/activate',
      body: null,
      home: 'space',
      who: 'admin',
      command: 'deploy',
      adminToken: 'deploy',
      form: { page: '/releases', section: 'releases', done: 'release_activated' },
      streams: 'out',
      summary: 'Puts a former release in force, and answers with each step.',
      answers: { 200: 'lines' },
      errors: ['space_not_found'],
      async handle(context) {
        const { params, request, caller, asPage } = context
        const asked = { params, request, visitor: caller.visitor, context }
        if (!asPage) return ndjson(context, activateRows(ports(), asked))
        await activateAtOnce(ports(), asked)
        return empty(204)
      },
    }),
  ]
}

/** Of an archive. Unpacked, it is judged by each part. */
function mostBytes({ code, assets }: ReleaseLimits): number {
  return code + assets + 16 * 1024 * 1024
}
