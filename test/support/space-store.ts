import { requireCollection, requireId } from '../../src/host/documents/names.js'
import { StoreError } from '../../src/host/documents/store-error.js'
import type {
  Documents,
  Indexes,
  IndexState,
  KeyValues,
  StoredDocument,
  VersionedChange,
} from '../../src/host/ports.js'

export interface SpaceStore {
  documents: Documents
  indexes: Indexes
  keyValues: KeyValues
}

const pageBytes = 256 * 1024
const pairsAPage = 1_000
const maxDocumentBytes = 4 * 1024 * 1024

/** The data of a space in memory: the ports as the host promises them. */
export function createSpaceStore(now: () => number = Date.now): SpaceStore {
  return { documents: createDocuments(), indexes: createIndexes(), keyValues: createKeyValues(now) }
}

const byBytes = (one: string, other: string) => Buffer.compare(Buffer.from(one), Buffer.from(other))

function createDocuments(): Documents {
  const collections = new Map<string, Map<string, StoredDocument>>()
  let version = 0

  const of = (name: string) => collections.get(requireCollection(name)) ?? new Map<string, StoredDocument>()

  function write(name: string, id: string, body: string): number {
    requireId(id)
    if (Buffer.byteLength(body) > maxDocumentBytes) throw new StoreError('quota_exceeded', 'The document is too large.')
    const rows = of(name)
    version += 1
    rows.set(id, { id, version, body })
    collections.set(name, rows)
    return version
  }

  return {
    get: async (name, id) => of(name).get(requireId(id)) ?? null,
    async put(name, id, body, ifVersion) {
      const found = of(name).get(id)
      const expected = found?.version ?? 'absent'
      if (ifVersion !== 'any' && ifVersion !== expected) throw new StoreError('not_current', 'It changed.')
      return write(name, id, body)
    },
    async remove(name, id, ifVersion) {
      const found = of(name).get(requireId(id))
      if (ifVersion !== 'any' && ifVersion !== found?.version) throw new StoreError('not_current', 'It changed.')
      return of(name).delete(id)
    },
    async changeMany(name, changes) {
      const ids = new Set(changes.map(({ id }) => id))
      if (changes.length > 1_000 || ids.size < changes.length)
        throw new StoreError('query_invalid', 'The ids are not distinct, or too many.')
      const isCurrent = ({ id, version }: VersionedChange) => of(name).get(id)?.version === version
      const current = changes.filter(isCurrent)
      const bytes = current.reduce((sum, { id }) => sum + Buffer.byteLength(of(name).get(id)?.body ?? ''), 0)
      if (bytes > 16 * 1024 * 1024) throw new StoreError('query_invalid', 'They are too large together.')
      for (const { id, body } of current) {
        if (body === null) of(name).delete(id)
        else write(name, id, body)
      }
      const overtaken = changes.filter((change) => !current.includes(change)).map(({ id }) => id)
      return { changed: current.length, overtaken }
    },
    async scan(name, { after, reverse, limit }) {
      const ids = [...of(name).keys()].sort(byBytes)
      if (reverse) ids.reverse()
      const from = after === null ? 0 : ids.findIndex((id) => (reverse ? -1 : 1) * byBytes(id, after) > 0)
      const documents: StoredDocument[] = []
      let bytes = 0
      for (const id of from === -1 ? [] : ids.slice(from)) {
        const stored = of(name).get(id)
        if (!stored) continue
        bytes += Buffer.byteLength(stored.body)
        if (documents.length > 0 && (bytes > pageBytes || documents.length >= limit)) {
          return { documents, next: documents.at(-1)?.id ?? null }
        }
        documents.push(stored)
      }
      return { documents, next: null }
    },
    async putMany(name, rows, ifVersion) {
      if (rows.length > 1_000) throw new StoreError('query_invalid', 'At most 1,000 documents at once.')
      const found = ifVersion === 'any' ? rows.map(({ id }) => of(name).get(id)?.body ?? '') : []
      if (found.join('').length > 16 * 1024 * 1024)
        throw new StoreError('query_invalid', 'They are too large together.')
      const existing = rows.map(({ id }) => id).filter((id) => of(name).has(requireId(id)))
      for (const { id, body } of rows) if (ifVersion === 'any' || !existing.includes(id)) write(name, id, body)
      return existing
    },
    count: async (name) => of(name).size,
    drop: async (name) => void collections.delete(requireCollection(name)),
    list: async () =>
      [...collections]
        .map(([name, rows]) => ({
          name,
          count: rows.size,
          bytes: [...rows.values()].reduce((sum, { body }) => sum + Buffer.byteLength(body), 0),
        }))
        .sort((one, other) => byBytes(one.name, other.name)),
  }
}

/** Records indexes, and serves no find by them. */
function createIndexes(): Indexes {
  const collections = new Map<string, Map<string, IndexState>>()
  const of = (name: string) => collections.get(requireCollection(name)) ?? new Map<string, IndexState>()
  return {
    list: async (name) => [...of(name).values()].sort((one, other) => byBytes(one.field, other.field)),
    async create(name, field, isUnique) {
      const known = of(name)
      if (known.has(field)) return false
      known.set(field, { field, isUnique, state: 'building', isMultikey: false, isOrdered: true })
      collections.set(name, known)
      return true
    },
    build: async () => ({ processed: 0, of: 0, isReady: true }),
    async scan() {
      throw new StoreError('plan_outdated', 'This store has no entries.')
    },
    remove: async (name, field) => of(name).delete(field),
  }
}

function createKeyValues(now: () => number): KeyValues {
  const spaces = new Map<string, Map<string, { value: string; endsAt: number | null }>>()
  const of = (keyspace: string) => {
    const rows = spaces.get(keyspace) ?? new Map<string, { value: string; endsAt: number | null }>()
    spaces.set(keyspace, rows)
    for (const [key, { endsAt }] of rows) if (endsAt !== null && endsAt <= now()) rows.delete(key)
    return rows
  }
  const keysOf = (keyspace: string, prefix: string) =>
    [...of(keyspace).keys()].filter((key) => key.startsWith(prefix)).sort(byBytes)
  const endOf = (ttlMs: number | null) => (ttlMs === null ? null : now() + ttlMs)

  return {
    get: async ({ keyspace, key }) => of(keyspace).get(key)?.value ?? null,
    set: async ({ keyspace, key }, value, ttlMs) => void of(keyspace).set(key, { value, endsAt: endOf(ttlMs) }),
    remove: async ({ keyspace, key }) => of(keyspace).delete(key),
    async increment({ keyspace, key }, by, ttlMs) {
      const found = of(keyspace).get(key) ?? { value: '0', endsAt: null }
      const sum = Number(found.value) + by
      if (!Number.isFinite(sum) || found.value.trim() === '') throw new StoreError('query_invalid', 'It is no number.')
      of(keyspace).set(key, { value: String(sum), endsAt: ttlMs === null ? found.endsAt : endOf(ttlMs) })
      return sum
    },
    async page(keyspace, prefix, after) {
      const keys = keysOf(keyspace, prefix).filter((key) => after === null || byBytes(key, after) > 0)
      const rows = keys.slice(0, pairsAPage).map((key) => ({ key, value: of(keyspace).get(key)?.value ?? '' }))
      return { rows, next: keys.length > pairsAPage ? (rows.at(-1)?.key ?? null) : null }
    },
    async removePage(keyspace, prefix) {
      const keys = keysOf(keyspace, prefix).slice(0, pairsAPage)
      for (const key of keys) of(keyspace).delete(key)
      return keys.length
    },
  }
}
