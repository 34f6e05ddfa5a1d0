import { isWellFormed } from '../../documents/names.js'
import { queryInvalid } from '../../documents/store-error.js'
import { isPlain } from '../../documents/values.js'
import type { KeyName, KeyValue, KeyValues } from '../../ports.js'
import { createRowStream, type RowStream } from './row-stream.js'

/** The key-value calls of a Datastore connection. Values are texts; a missing key is null. */
export interface KeyValueCalls {
  get(key: unknown, options?: unknown): Promise<string | null>
  set(key: unknown, value: unknown, options?: unknown): Promise<string>
  getObj(key: unknown, options?: unknown): Promise<unknown>
  setObj(key: unknown, value: unknown, options?: unknown): Promise<unknown>
  del(key: unknown, options?: unknown): Promise<number>
  incr(key: unknown, by?: unknown, options?: unknown): Promise<number>
  decr(key: unknown, by?: unknown, options?: unknown): Promise<number>
  getAll(prefix?: unknown, options?: unknown): RowStream
  delAll(prefix?: unknown, options?: unknown): Promise<number>
}

export function createKeyValueCalls(store: KeyValues): KeyValueCalls {
  const increment = (key: unknown, by: unknown, sign: 1 | -1, options: unknown) =>
    store.increment(nameOf(key, options), sign * numberOf(by), ttlOf(options))

  return {
    get: async (key, options) => store.get(nameOf(key, options)),
    async set(key, value, options) {
      const text = textOf(value)
      await store.set(nameOf(key, options), text, ttlOf(options))
      return text
    },
    async getObj(key, options) {
      const text = await store.get(nameOf(key, options))
      return text === null ? null : JSON.parse(text)
    },
    async setObj(key, value, options) {
      await store.set(nameOf(key, options), JSON.stringify(value ?? null), ttlOf(options))
      return value
    },
    del: async (key, options) => ((await store.remove(nameOf(key, options))) ? 1 : 0),
    incr: async (key, by = 1, options = undefined) => increment(key, by, 1, options),
    decr: async (key, by = 1, options = undefined) => increment(key, by, -1, options),
    getAll: (prefix = '', options = undefined) => createRowStream(pairs(store, keyspaceOf(options), keyOf(prefix))),
    async delAll(prefix = '', options = undefined) {
      const [keyspace, begin] = [keyspaceOf(options), keyOf(prefix)]
      let removed = 0
      for (;;) {
        const count = await store.removePage(keyspace, begin)
        if (count === 0) return removed
        removed += count
      }
    },
  }
}

async function* pairs(
  store: KeyValues,
  keyspace: string,
  prefix: string,
): AsyncGenerator<{ key: string; val: string }, void, undefined> {
  let after: string | null = null
  do {
    const page: { rows: readonly KeyValue[]; next: string | null } = await store.page(keyspace, prefix, after)
    for (const { key, value } of page.rows) yield { key, val: value }
    after = page.next
  } while (after !== null)
}

function nameOf(key: unknown, options: unknown): KeyName {
  const name = keyOf(key)
  if (name === '') throw queryInvalid('A key must be a text that is not empty.')
  return { keyspace: keyspaceOf(options), key: name }
}

function keyOf(key: unknown): string {
  if (typeof key === 'string' && isWellFormed(key)) return key
  if (typeof key === 'number') return String(key)
  throw queryInvalid('A key must be a text without lone surrogates.')
}

function keyspaceOf(options: unknown): string {
  const keyspace = isPlain(options) ? options.keyspace : undefined
  const name = String(keyspace ?? '')
  if (isWellFormed(name)) return name
  throw queryInvalid('A keyspace must be a text without lone surrogates.')
}

function ttlOf(options: unknown): number | null {
  const ttl = isPlain(options) ? (options.ttl ?? null) : null
  if (ttl === null) return null
  const milliseconds = Number(ttl)
  if (Number.isFinite(milliseconds) && milliseconds > 0) return Math.ceil(milliseconds)
  throw queryInvalid('ttl must be a positive number of milliseconds.')
}

function numberOf(by: unknown): number {
  const number = typeof by === 'string' ? Number(by) : by
  if (typeof number === 'number' && Number.isFinite(number)) return number
  throw queryInvalid('incr and decr take a number.')
}

function textOf(value: unknown): string {
  const text: string | undefined = typeof value === 'string' ? value : JSON.stringify(value)
  if (text !== undefined && isWellFormed(text)) return text
  throw queryInvalid('A value must be a text without lone surrogates, or what JSON can hold.')
}
