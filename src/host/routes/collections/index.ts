import type { Route } from '../../../http/route.js'
import type { CollectionPorts } from '../../flows/collections/ports.js'
import { importRoute } from './import.js'
import { indexRoutes } from './indexes.js'
import { listRoute } from './list.js'
import { queryRoute } from './query.js'

/** The documents of a space. @param ports those of the running host */
export function collectionRoutes(ports: () => CollectionPorts): readonly Route[] {
  return [listRoute(ports), queryRoute(ports), ...indexRoutes(ports), importRoute(ports)]
}
