import { queryInvalid } from '../../documents/store-error.js'
import type { Indexes } from '../../ports.js'

/** No indexes yet: finds read all documents. */
export function createIndexes(): Indexes {
  const none = () => queryInvalid('This host keeps its data in PostgreSQL, where collections have no indexes yet.')
  return {
    list: async () => [],
    create: () => Promise.reject(none()),
    build: () => Promise.reject(none()),
    scan: () => Promise.reject(none()),
    remove: async () => false,
  }
}
