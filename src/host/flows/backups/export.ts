import { AuthError } from '../../../errors.js'
import { auditEvent } from '../../../flows/steps/audit.js'
import type { Visitor } from '../../../model/visitor.js'
import { isHidden } from '../../documents/names.js'
import type { ScanPage, Snapshot, StoredDocument } from '../../ports.js'
import { findJudged, visitorIn } from '../spaces/find-space.js'
import { withFaults } from '../spaces/store-faults.js'
import type { BackupPorts } from './ports.js'

type Line = string | { end: { count: number } }

interface Exported {
  space: string
  collection: string
  visitor: Visitor
}

/**
 * Every document of a collection in `_id` order, as it is stored, and at the end how many there were. Others go on writing.
 *
 * @throws {AuthError} `space_not_found`, `not_found`, `store_unavailable`
 */
export async function exportCollection(ports: BackupPorts, exported: Exported): Promise<AsyncIterable<Line>> {
  const { snapshot } = await openExport(ports, exported)
  return closing(linesOf(snapshot, exported.collection), () => snapshot.close())
}

/** As `exportCollection`, as the bytes of a file with nothing but the documents. */
export async function exportFile(
  ports: BackupPorts,
  exported: Exported,
): Promise<{ count: number; file: AsyncIterable<Uint8Array> }> {
  const { snapshot, count } = await openExport(ports, exported)
  return { count, file: closing(bytesOf(snapshot, exported.collection), () => snapshot.close()) }
}

async function openExport(
  ports: BackupPorts,
  { space: name, collection, visitor }: Exported,
): Promise<{ snapshot: Snapshot; count: number }> {
  const space = await findJudged(ports, name, visitor)
  if (isHidden(collection)) throw new AuthError('not_found')
  const snapshot = await withFaults(async () => (await ports.data.open(space.id, space.generation)).snapshot())
  try {
    const found = (await withFaults(() => snapshot.list())).find((each) => each.name === collection)
    if (!found) throw new AuthError('not_found')
    const detail = { collection, count: found.count }
    await ports.audit.record(auditEvent(ports, 'data_exported', visitorIn(space, visitor), { detail }))
    return { snapshot, count: found.count }
  } catch (error) {
    await snapshot.close()
    throw error
  }
}

async function* bytesOf(snapshot: Snapshot, collection: string): AsyncGenerator<Uint8Array> {
  for await (const documents of pagesOf(snapshot, collection)) {
    if (documents.length > 0) yield Buffer.from(linesFrom(documents))
  }
}

async function* linesOf(snapshot: Snapshot, collection: string): AsyncGenerator<Line> {
  let count = 0
  for await (const documents of pagesOf(snapshot, collection)) {
    count += documents.length
    if (documents.length > 0) yield linesFrom(documents)
  }
  yield { end: { count } }
}

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
