import type { ScanPage, Snapshot, StoredDocument } from '../../ports.js'
import { withFaults } from '../spaces/store-faults.js'

/** Most rows of a page. The store ends a page at 256 KiB, or after one larger document. */
const pageRows = 10_000

/** The documents of a collection in `_id` order. @throws {AuthError} `store_unavailable` */
export async function* pagesOf(snapshot: Snapshot, collection: string): AsyncGenerator<readonly StoredDocument[]> {
  let after: string | null = null
  do {
    const options = { after, reverse: false, limit: pageRows }
    const page: ScanPage = await withFaults(() => snapshot.scan(collection, options))
    yield page.documents
    after = page.next
  } while (after !== null)
}

/** The stored texts, one a line. A line break in one can only stand between its parts, where a blank means the same. */
export function linesFrom(documents: readonly StoredDocument[]): string {
  return documents.map(({ body }) => `${body.replace(/[\r\n]/g, ' ')}\n`).join('')
}

/** Closes what the pieces are read from, also when their reader leaves before the first one. */
export function closing<T>(pieces: AsyncGenerator<T>, close: () => Promise<void>): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator]: () => ({
      async next() {
        try {
          const next = await pieces.next()
          if (next.done) await close()
          return next
        } catch (error) {
          await close()
          throw error
        }
      },
      async return() {
        await close()
        await pieces.return(undefined)
        return { done: true, value: undefined }
      },
    }),
  }
}
