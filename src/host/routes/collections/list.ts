import { z } from 'zod'
import { json } from '../../../http/problem.js'
import type { Route } from '../../../http/route.js'
import { defineTokenRoute } from '../../../routes/admin/control-route.js'
import { listCollections } from '../../flows/collections/list.js'
import type { CollectionPorts } from '../../flows/collections/ports.js'

const collectionSchema = z
  .object({
    name: z.string(),
    count: z.number().describe('How many documents it holds.'),
    bytes: z.number().describe('Of all its documents.'),
    indexes: z.array(
      z.object({
        field: z.string(),
        isUnique: z.boolean(),
        state: z.enum(['building', 'ready']).describe('`building`: no query reads it yet.'),
      }),
    ),
  })
  .describe('A collection of a space.')

export function listRoute(ports: () => CollectionPorts): Route {
  return defineTokenRoute({
    method: 'GET',
    path: '/collections',
    body: null,
    home: 'space',
    who: 'admin',
    command: 'query',
    adminToken: 'query',
    summary: 'Lists the collections of a space by name.',
    answers: { 200: z.array(collectionSchema) },
    errors: ['space_not_found'],
    async handle({ params, caller }) {
      return json(200, await listCollections(ports(), { space: params.space ?? '', visitor: caller.visitor }))
    },
  })
}
