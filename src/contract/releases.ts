import { z } from 'zod'
import { actorSchema } from './actor.js'
import { confirmField, time } from './fields.js'
import { defineOperations } from './operation.js'

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

export const releases = defineOperations({
  list: {
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
  },
  undeploy: {
    method: 'DELETE',
    path: '/releases/current',
    body: z.strictObject({ confirm: confirmField.describe('The name of the space.') }),
    home: 'space',
    who: 'admin',
    confirm: true,
    command: 'undeploy',
    adminToken: 'undeploy',
    summary: 'Takes the code of a space away. Data, tokens and settings stay.',
    answers: { 204: null },
    errors: ['not_found', 'space_not_found', 'space_busy', 'not_current'],
  },
  deploy: {
    method: 'POST',
    path: '/releases',
    body: null,
    home: 'space',
    who: 'admin',
    command: 'deploy',
    adminToken: 'deploy',
    summary: 'Deploys an archive, and answers with each step.',
    answers: { 200: 'lines' },
    errors: ['space_not_found'],
  },
  activate: {
    method: 'POST',
    path: '/releases/:n/activate',
    body: null,
    home: 'space',
    who: 'admin',
    command: 'deploy',
    adminToken: 'deploy',
    summary: 'Puts a former release in force, and answers with each step.',
    answers: { 200: 'lines' },
    errors: ['space_not_found'],
  },
  log: {
    method: 'GET',
    path: '/logs',
    body: null,
    home: 'space',
    who: 'admin',
    command: 'log',
    summary: 'The last 500 lines that the application printed, and with `follow` those to come.',
    query: {
      follow: '`true`: new lines follow.',
      since: 'Lines from this time on, ISO 8601.',
      level: '`info` or `error`.',
    },
    answers: { 200: 'lines' },
    errors: ['space_not_found'],
  },
})
