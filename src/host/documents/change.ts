import type { Documents } from '../ports.js'
import { type FindPorts, findFirst, findWhole, type Selection } from './find.js'
import { type InsertPorts, insert } from './insert.js'
import type { Queues } from './queues.js'
import type { Candidate } from './reading/sort.js'
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

/** What is written at once, as it was found: a data thread must not be busy for long. */
const writeLimits = { rows: 500, bytes: 1024 * 1024 }
/** Faults after which it is certain that nothing was written. */
const writesNothing = ['already_exists', 'query_invalid', 'quota_exceeded'] as const

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

/** Changes all documents that match, and returns how many. Before a fault, some of them have changed. */
export function changeAll(ports: ChangePorts, selection: Selection, change: Change): Promise<number> {
  return writeAll(ports, selection, {
    bodyOf: (document) => encode(change(document)),
    write: (id) => changeMatch(ports, selection, id, change),
  })
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
  return writeAll(ports, selection, { bodyOf: () => null, write: (id) => removeMatch(ports, selection, id) })
}

interface Writing {
  /** What is written over a document that matches; null removes it. */
  bodyOf(document: Document): string | null
  /** Writes one document, if it still matches. False or null if not. */
  write(id: string): Promise<unknown>
}

async function writeAll(ports: ChangePorts, selection: Selection, writing: Writing): Promise<number> {
  let count = 0
  let batch: Candidate[] = []
  let bytes = 0
  for await (const found of findWhole(ports, { ...selection, once: true })) {
    batch.push(found)
    bytes += found.bytes
    if (batch.length < writeLimits.rows && bytes < writeLimits.bytes) continue
    count += await writeBatch(ports, selection, batch, writing)
    batch = []
    bytes = 0
  }
  return count + (await writeBatch(ports, selection, batch, writing))
}

/** Those that changed since they were found are written one by one. */
async function writeBatch(
  ports: ChangePorts,
  { collection }: Selection,
  batch: readonly Candidate[],
  writing: Writing,
): Promise<number> {
  const left = await tryBatch(ports, collection, batch, writing)
  let count = batch.length - left.length
  for (const id of left) if (await writing.write(id)) count += 1
  return count
}

/**
 * Returns the `_id`s that were not written. A batch with a fault is not written at all: then they are all of them, so that
 * those before the fault are written, and the fault is told.
 */
async function tryBatch(
  { documents }: ChangePorts,
  collection: string,
  batch: readonly Candidate[],
  { bodyOf }: Writing,
): Promise<readonly string[]> {
  if (batch.length === 0) return []
  try {
    const changes = batch.map(({ document, version }) => ({ id: document._id, version, body: bodyOf(document) }))
    return (await documents.changeMany(collection, changes)).overtaken
  } catch (error) {
    if (!writesNothing.some((code) => isStoreError(error, code))) throw error
    return batch.map(({ document }) => document._id)
  }
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
