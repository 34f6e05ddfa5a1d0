import type { Route } from '../../../http/route.js'
import { defineAdminPage } from '../../../routes/admin/pages/admin-page.js'
import { listCollections } from '../../flows/collections/find-collection.js'
import type { CollectionPorts } from '../../flows/collections/ports.js'
import { shownBytes } from './shown-bytes.js'

export function collectionsPage(ports: () => CollectionPorts): Route {
  return defineAdminPage({
    home: 'space',
    path: '/data',
    at: 'collections',
    template: 'collections',
    summary: 'Lists the collections of a space with their size and indexes.',
    async values({ params, admin }) {
      const collections = await listCollections(ports(), { space: params.space ?? '', visitor: admin.visitor })
      return {
        items: collections.map(({ name, count, bytes, indexes }) => ({
          name,
          count: String(count),
          size: shownBytes(bytes),
          indexes: indexes.map(({ field }) => field).join(', '),
        })),
      }
    },
  })
}
