import { collections } from '../../../contract/collections.js'
import type { Route } from '../../../http/route.js'
import { ndjson } from '../../../http/streams/ndjson.js'
import { whileAllowed } from '../../../http/streams/while-allowed.js'
import { defineTokenRoute } from '../../../routes/admin/control-route.js'
import type { CollectionPorts } from '../../flows/collections/ports.js'
import { changesDocuments, queryCollection } from '../../flows/collections/query.js'
import { answerDocuments } from '../pages/documents.js'

export function queryRoute(ports: () => CollectionPorts): Route {
  return defineTokenRoute({
    ...collections.query,
    needsRecent: changesDocuments,
    form: { page: '/data/:c', section: 'documents', ownAnswer: true },
    streams: 'out',
    async handle(context, sent) {
      const { params, caller, asPage } = context
      if (asPage && caller.kind === 'session') {
        return answerDocuments({ ...context, admin: caller, right: caller.right }, ports(), sent)
      }
      const named = { space: params.space ?? '', collection: params.c ?? '', visitor: caller.visitor }
      return ndjson(context, whileAllowed(await queryCollection(ports(), named, sent), context.still))
    },
  })
}
