import type { Documents } from '../ports.js'
import { type FindPorts, find, findFirst, type Selection } from './find.js'
import { type InsertPorts, insert } from './insert.js'
import type { Queues } from './queues.js'
import { isStoreError, StoreError } from './store-error.js'
import { type Document, decode, encode } from './values.js'

export interface ChangePorts extends FindPorts, InsertPorts {
  documents: Documents
  queues: Queues
  /** Waits before the next attempt at a write that another process overtook; the attempt counts from 0. */
  pause(attempt: number): Promise<void>
}

/** Makes the changed document. */
export type Change = (document: Document) => Document

const maxAttempts = 20
/** A unique value that the filter does not find is that of another document, not of one that was just inserted. */
const maxClashes = 3

/**
 * Changes the first document that matches. If another process changes it first so that it no longer matches, the next one
 * counts. null when none matches and nothing is inserted.
 *
 * @param insertion makes the document that is inserted when none matches; null to insert nothing
 */
export async function changeFirst(
  ports: ChangePorts,
  selection: Selection,
  { change, insertion }: { change: Change; insertion: (() => Document) | null },
): Promise<Document | null> {
  const { collection, filter } = selection
  let clashes = 0
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const found = await findFirst(ports, selection)
    const changed = found && (await changeMatch(ports, selection, found._id, change))
    if (changed) return changed
    if (!found) {
      if (!insertion) return null
      try {
        return await insert(ports, collection, insertion())
      } catch (error) {
        // Another process has inserted the document. The next attempt changes it.
        const isOvertaken = isStoreError(error, 'not_current') && filter.id !== null
        clashes += isStoreError(error, 'already_exists') ? 1 : 0
        if (!isOvertaken && (clashes === 0 || clashes >= maxClashes)) throw error
      }
    }
    await ports.pause(attempt)
  }
  throw overtaken()
}

/** Changes all documents that match, and returns how many. */
export function changeAll(ports: ChangePorts, selection: Selection, change: Change): Promise<number> {
  return countWrites(ports, selection, (id) => changeMatch(ports, selection, id, change))
}

/** Removes the first document that matches, and returns its `_id`. null when none matches. */
export async function removeFirst(ports: ChangePorts, selection: Selection): Promise<string | null> {
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const found = await findFirst(ports, selection)
    if (!found) return null
    if (await removeMatch(ports, selection, found._id)) return found._id
    await ports.pause(attempt)
  }
  throw overtaken()
}

/** Removes all documents that match, and returns how many. */
export function removeAll(ports: ChangePorts, selection: Selection): Promise<number> {
  return countWrites(ports, selection, (id) => removeMatch(ports, selection, id))
}

async function countWrites(
  ports: ChangePorts,
  { collection, filter, options }: Selection,
  write: (id: string) => Promise<unknown>,
): Promise<number> {
  let count = 0
  const selection: Selection = { collection, filter, options: { ...options, projection: null }, once: true }
  for await (const { _id } of find(ports, selection)) {
    if (await write(_id)) count += 1
  }
  return count
}

function changeMatch(ports: ChangePorts, selection: Selection, id: string, change: Change): Promise<Document | null> {
  return writeMatch(ports, selection, id, async (document, version) => {
    const changed = change(document)
    await ports.documents.put(selection.collection, id, encode(changed), version)
    return changed
  })
}

async function removeMatch(ports: ChangePorts, selection: Selection, id: string): Promise<boolean> {
  const removed = await writeMatch(ports, selection, id, (_, version) =>
    ports.documents.remove(selection.collection, id, version),
  )
  return removed === true
}

/**
 * Writes over the version that was seen to match, so that no change in between is lost. null when the document is gone or no
 * longer matches.
 */
function writeMatch<T>(
  { documents, queues, pause }: ChangePorts,
  { collection, filter }: Selection,
  id: string,
  write: (document: Document, version: number) => Promise<T>,
): Promise<T | null> {
  return queues.run(`${collection}/${id}`, async () => {
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      const stored = await documents.get(collection, id)
      if (!stored) return null
      const document = decode(id, stored.body)
      if (!filter.matches(document)) return null
      try {
        return await write(document, stored.version)
      } catch (error) {
        if (!isStoreError(error, 'not_current')) throw error
        await pause(attempt)
      }
    }
    throw overtaken()
  })
}

function overtaken(): StoreError {
  const message = `The document changed ${maxAttempts} times while it was being written. Try again.`
  return new StoreError('not_current', message)
}
