import { collections } from '../../../contract/collections.js'
import { empty } from '../../../http/problem.js'
import type { Route } from '../../../http/route.js'
import { ndjson } from '../../../http/streams/ndjson.js'
import { type CallerContext, defineTokenRoute } from '../../../routes/admin/control-route.js'
import type { NamedCollection } from '../../flows/collections/find-collection.js'
import { createIndexes, removeIndexes } from '../../flows/collections/indexes.js'
import type { CollectionPorts } from '../../flows/collections/ports.js'
import { answerIndexes } from '../pages/documents.js'
import { progressRows } from '../progress.js'

export function indexRoutes(ports: () => CollectionPorts): readonly Route[] {
  return [
    defineTokenRoute({
      ...collections.createIndexes,
      form: { page: '/data/:c', section: 'indexes', ownAnswer: true },
      streams: 'out',
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
      ...collections.removeIndexes,
      form: { page: '/data/:c', section: 'indexes', done: 'index_removed' },
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
