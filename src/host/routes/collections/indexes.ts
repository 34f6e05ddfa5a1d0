import { z } from 'zod'
import { empty } from '../../../http/problem.js'
import type { Route } from '../../../http/route.js'
import { ndjson } from '../../../http/streams/ndjson.js'
import { type CallerContext, defineTokenRoute } from '../../../routes/admin/control-route.js'
import { confirmField, flagField, listField } from '../../../routes/admin/fields.js'
import type { NamedCollection } from '../../flows/collections/find-collection.js'
import { createIndexes, removeIndexes } from '../../flows/collections/indexes.js'
import type { CollectionPorts } from '../../flows/collections/ports.js'
import { answerIndexes } from '../pages/documents.js'
import { progressRows } from '../progress.js'

const path = '/collections/:c/indexes'
const fields = listField.describe('Fields, or paths with dots. Each gets an index of its own.')

export function indexRoutes(ports: () => CollectionPorts): readonly Route[] {
  return [
    defineTokenRoute({
      method: 'POST',
      path,
      body: z.strictObject({
        fields,
        unique: flagField.optional().describe('No two documents may have the same value. Default: false.'),
      }),
      home: 'space',
      who: 'admin',
      command: 'createindex',
      adminToken: 'createindex',
      form: { page: '/data/:c', section: 'indexes', ownAnswer: true },
      streams: 'out',
      summary: 'Builds indexes of a collection, and answers with how far they are.',
      answers: { 200: 'lines' },
      errors: ['space_not_found', 'not_found', 'space_busy', 'index_exists', 'quota_exceeded', 'query_invalid'],
      async handle(context, { fields: sent, unique = false }) {
        const { caller, asPage } = context
        if (asPage && caller.kind === 'session') {
          const admin = { ...context, admin: caller, right: caller.right }
          return answerIndexes(admin, ports(), { fields: sent, unique })
        }
        const { run } = await createIndexes(ports(), named(context), { fields: sent, unique })
        const built = progressRows(context, async (report) => {
          await run((progress) => report({ ...progress }))
          return { finished: true }
        })
        return ndjson(context, built)
      },
    }),
    defineTokenRoute({
      method: 'DELETE',
      path,
      body: z.strictObject({ fields, confirm: confirmField.describe('The fields, with commas between them.') }),
      home: 'space',
      who: 'admin',
      confirm: true,
      command: 'removeindex',
      adminToken: 'removeindex',
      form: { page: '/data/:c', section: 'indexes', done: 'index_removed' },
      summary: 'Removes indexes of a collection. The documents stay.',
      answers: { 204: null },
      errors: ['space_not_found', 'not_found', 'query_invalid'],
      async handle(context, { fields: sent, confirm }) {
        await removeIndexes(ports(), named(context), { fields: sent, confirm })
        return empty(204)
      },
    }),
  ]
}

function named({ params, caller }: CallerContext): NamedCollection {
  return { space: params.space ?? '', collection: params.c ?? '', visitor: caller.visitor }
}
