import { AuthError } from '../../../errors.js'
import { isObject, parseJson } from '../../../lib/json-object.js'
import type { KeyName, Snapshot, StoredDocument } from '../../ports.js'
import { withFaults } from '../spaces/store-faults.js'
import { linesFrom, pagesOf } from './pages.js'

/** The documents of a collection in `_id` order, several lines at once. */
export async function* documentLines(snapshot: Snapshot, collection: string): AsyncGenerator<string> {
  for await (const documents of pagesOf(snapshot, collection)) {
    for (const document of documents) requireOwnId(collection, document)
    yield linesFrom(documents)
  }
}

/** The key-value pairs in order of keyspace and key, several lines at once. */
export async function* pairLines(snapshot: Snapshot): AsyncGenerator<string> {
  let after: KeyName | null = null
  do {
    const from: KeyName | null = after
    const page: Awaited<ReturnType<Snapshot['pairs']>> = await withFaults(() => snapshot.pairs(from))
    yield page.rows.map((pair) => `${JSON.stringify(pair)}\n`).join('')
    after = page.next
  } while (after !== null)
}

export async function sizeOfLines(texts: AsyncIterable<string>): Promise<{ lines: number; bytes: number }> {
  let [lines, bytes] = [0, 0]
  for await (const text of texts) {
    lines += text.split('\n').length - 1
    bytes += Buffer.byteLength(text)
  }
  return { lines, bytes }
}

/** A restore takes the `_id` from the document. Ours writes it first, so most need not be parsed. */
function requireOwnId(collection: string, { id, body }: StoredDocument): void {
  const start = `{"_id":${JSON.stringify(id)}`
  // Of two, the last would count. A name may be written with escapes, too.
  const isOnly = !body.includes('"_id"', start.length) && !body.includes('\\u', start.length)
  if (body.startsWith(start) && isOnly) return
  const document = parseJson(body)
  if (isObject(document) && document._id === id) return
  const cure = 'Remove it, or write it again by the application.'
  throw new AuthError('store_unavailable', {
    detail: `A document of ${collection} was stored under another _id than it has, so no backup could restore it. ${cure}`,
  })
}
