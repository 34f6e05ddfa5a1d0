import { collections } from '../../../contract/collections.js'
import { json } from '../../../http/problem.js'
import type { Route } from '../../../http/route.js'
import { defineTokenRoute } from '../../../routes/admin/control-route.js'
import { listCollections } from '../../flows/collections/find-collection.js'
import type { CollectionPorts } from '../../flows/collections/ports.js'

export function listRoute(ports: () => CollectionPorts): Route {
  return defineTokenRoute({
    ...collections.list,
    async handle({ params, caller }) {
      return json(200, await listCollections(ports(), { space: params.space ?? '', visitor: caller.visitor }))
    },
  })
}
