type Document = Record<string, unknown> & { _id: string }
type Filter = Readonly<Record<string, unknown>>

/** The documents part of a codehooks Datastore connection, in memory: as much as crudlify asks for. */
export interface CodehooksConnection {
  insertOne(collection: string, document: Filter): Promise<Document>
  getOne(collection: string, id: string | Filter): Promise<Document>
  findOneOrNull(collection: string, id: string | Filter): Promise<Document | null>
  /** Not a promise: a stream. */
  getMany(collection: string, filter?: Filter): DocumentStream
  updateOne(collection: string, id: string | Filter, operations: Filter): Promise<Document>
  updateMany(collection: string, filter: Filter, operations: Filter): Promise<{ count: number }>
  replaceOne(collection: string, id: string | Filter, document: Filter): Promise<Document>
  removeOne(collection: string, id: string | Filter): Promise<{ _id: string }>
  removeMany(collection: string, filter: Filter): Promise<{ count: number }>
}

interface DocumentStream {
  toArray(): Promise<Document[]>
  forEach(visit: (document: Document) => void): Promise<void>
  json(res: { json(value: unknown): unknown }): unknown
}

export function createCollections(): CodehooksConnection {
  const collections = new Map<string, Document[]>()
  let inserted = 0

  function find(collection: string, query: string | Filter): Document[] {
    const filter = typeof query === 'string' ? { _id: query } : query
    return (collections.get(collection) ?? []).filter((document) => matches(document, filter))
  }

  function one(collection: string, query: string | Filter): Document {
    const [found] = find(collection, query)
    if (!found) throw new Error('Not found')
    return found
  }

  function remove(collection: string, doomed: readonly Document[]): void {
    const kept = (collections.get(collection) ?? []).filter((document) => !doomed.includes(document))
    collections.set(collection, kept)
  }

  return {
    async insertOne(collection, input) {
      inserted += 1
      const document = { _id: `document-${inserted}`, ...input }
      collections.set(collection, [...(collections.get(collection) ?? []), document])
      return { ...document }
    },
    getOne: async (collection, id) => ({ ...one(collection, id) }),
    findOneOrNull: async (collection, id) => find(collection, id)[0] ?? null,
    getMany(collection, filter = {}) {
      const found = find(collection, filter)
      return {
        toArray: async () => found,
        forEach: async (visit) => found.forEach(visit),
        json: (res) => res.json(found),
      }
    },
    updateOne: async (collection, id, operations) => update(one(collection, id), operations),
    async updateMany(collection, filter, operations) {
      const found = find(collection, filter)
      for (const document of found) update(document, operations)
      return { count: found.length }
    },
    async replaceOne(collection, id, input) {
      const document = one(collection, id)
      for (const name of Object.keys(document)) if (name !== '_id') delete document[name]
      return Object.assign(document, input, { _id: document._id })
    },
    async removeOne(collection, id) {
      const document = one(collection, id)
      remove(collection, [document])
      return { _id: document._id }
    },
    async removeMany(collection, filter) {
      const found = find(collection, filter)
      remove(collection, found)
      return { count: found.length }
    },
  }
}

function matches(document: Document, filter: Filter): boolean {
  return Object.entries(filter).every(([name, wanted]) => {
    if (typeof wanted !== 'object' || wanted === null) return document[name] === wanted
    return Object.entries(wanted).every(([operator, value]) => {
      if (operator === '$ne') return document[name] !== value
      if (operator === '$exists') return name in document === value
      if (operator === '$in') return Array.isArray(value) && value.includes(document[name])
      throw new Error(`operator ${operator} is not known here`)
    })
  })
}

/** A document without operators is merged, like `$set`. */
function update(document: Document, operations: Filter): Document {
  const set = operations.$set ?? (Object.keys(operations).some((name) => name.startsWith('$')) ? {} : operations)
  return Object.assign(document, set, { _id: document._id })
}
