import type { Documents, VersionedChange } from '../ports.js'
import { type FindPorts, findFirst, findWhole, type Selection } from './find.js'
import { batched, type InsertPorts, insert } from './insert.js'
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
export type Change = (document: Document) => Document | Promise<Document>

/** Limits of one call that changes many. A larger one would keep the data thread busy for too long. */
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
  { change, insertion }: { change: Change; insertion: (() => Document | Promise<Document>) | null },
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
        return await insert(ports, collection, await insertion())
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

/** Changes all documents that match, and returns how many. After a fault, those before it stay changed. */
export function changeAll(ports: ChangePorts, selection: Selection, change: Change): Promise<number> {
  return writeAll(ports, selection, async (document) => encode(await change(document)))
}

/** Removes the first document that matches, and returns its `_id`. null when none matches. */
export async function removeFirst(ports: ChangePorts, selection: Selection): Promise<string | null> {
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const found = await findFirst(ports, selection)
    if (!found) return null
    if (await writeOne(ports, selection, found._id, nothing)) return found._id
    await ports.pause(attempt)
  }
  throw overtaken()
}

/** Removes all documents that match, and returns how many. */
export function removeAll(ports: ChangePorts, selection: Selection): Promise<number> {
  return writeAll(ports, selection, nothing)
}

/** The text of the document as it is to be; null to remove it. */
type BodyOf = (document: Document) => string | null | Promise<string | null>

const nothing: BodyOf = () => null

async function writeAll(ports: ChangePorts, selection: Selection, bodyOf: BodyOf): Promise<number> {
  let count = 0
  const changes = changesOf(findWhole(ports, { ...selection, once: true }), bodyOf)
  for await (const batch of batched(changes, writeLimits, ({ bytes }) => bytes)) {
    count += await writeBatch(ports, selection, batch, bodyOf)
  }
  return count
}

async function* changesOf(found: AsyncIterable<Candidate>, bodyOf: BodyOf) {
  for await (const { document, version, bytes } of found) {
    const body = await bodyOf(document)
    yield { id: document._id, version, body, bytes: Math.max(bytes, Buffer.byteLength(body ?? '')) }
  }
}

/**
 * Writes documents over the versions that were found, and returns how many. Those that changed since are written one by one. When
 * the store refuses the batch, halves of it are written, so that one faulty document is refused alone.
 */
async function writeBatch(
  ports: ChangePorts,
  selection: Selection,
  batch: readonly VersionedChange[],
  bodyOf: BodyOf,
): Promise<number> {
  const outcome = await tryBatch(ports.documents, selection.collection, batch)
  if (outcome === null) {
    const middle = Math.ceil(batch.length / 2)
    const before = await writeBatch(ports, selection, batch.slice(0, middle), bodyOf)
    return before + (await writeBatch(ports, selection, batch.slice(middle), bodyOf))
  }
  let count = outcome.changed
  for (const id of outcome.overtaken) if (await writeOne(ports, selection, id, bodyOf)) count += 1
  return count
}

/** null when the store refused the batch, of which nothing is written then. */
async function tryBatch(
  documents: Pick<Documents, 'changeMany'>,
  collection: string,
  batch: readonly VersionedChange[],
): Promise<Awaited<ReturnType<Documents['changeMany']>> | null> {
  try {
    const sent = batch.map(({ id, version, body }) => ({ id, version, body }))
    return await documents.changeMany(collection, sent)
  } catch (error) {
    if (batch.length === 1 || !writesNothing.some((code) => isStoreError(error, code))) throw error
    return null
  }
}

/** Whether the document still matched, and was written. */
async function writeOne(ports: ChangePorts, selection: Selection, id: string, bodyOf: BodyOf): Promise<boolean> {
  const { collection } = selection
  const written = await writeMatch(ports, selection, id, async (document, version) => {
    const body = await bodyOf(document)
    if (body === null) await ports.documents.remove(collection, id, version)
    else await ports.documents.put(collection, id, body, version)
    return true
  })
  return written === true
}

function changeMatch(ports: ChangePorts, selection: Selection, id: string, change: Change): Promise<Document | null> {
  return writeMatch(ports, selection, id, async (document, version) => {
    const changed = await change(document)
    await ports.documents.put(selection.collection, id, encode(changed), version)
    return changed
  })
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
      if (!(await filter.effort.perform(() => filter.matches(document), filter.steps(stored.body.length)))) return null
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

interface Queues {
  /** Runs the steps of one key one after another; steps of other keys do not wait. */
  run<T>(key: string, step: () => Promise<T>): Promise<T>
}

/** Without a queue, parallel updates of one document would overtake each other and try again. */
export function createQueues(): Queues {
  const last = new Map<string, Promise<void>>()
  return {
    run(key, step) {
      const result = (last.get(key) ?? Promise.resolve()).then(step)
      const settled = result.then(ignore, ignore).then(() => {
        if (last.get(key) === settled) last.delete(key)
      })
      last.set(key, settled)
      return result
    },
  }
}

function ignore(): void {}
