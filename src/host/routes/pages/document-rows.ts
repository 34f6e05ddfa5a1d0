import { storeUnavailable } from '../../../errors.js'
import { parseJson } from '../../../lib/json-object.js'
import { isPlain } from '../../documents/values.js'
import type { NamedCollection } from '../../flows/collections/find-collection.js'
import type { CollectionPorts } from '../../flows/collections/ports.js'
import { queryCollection } from '../../flows/collections/query.js'

/** What the form of the page asks for. Filter and sort are JSON as typed; empty for none. */
export interface AskedRows {
  filter: string
  sort: string
  offset: number
}

/** A document in the list. */
export interface ShownRow {
  id: string
  version: string
  /** Its JSON, cut. */
  text: string
  /** The filter that finds this document alone. */
  filter: string
  /** Its whole JSON, in lines; only where the filter named one document. */
  whole: string | null
}

export interface FoundRows {
  rows: readonly ShownRow[]
  hasMore: boolean
}

export const rowsOfPage = 50
const shownCharacters = 200

/** A page of documents. Of each, only what is shown stays in memory. @throws {AuthError} as `queryCollection` */
export async function findRows(ports: CollectionPorts, named: NamedCollection, asked: AskedRows): Promise<FoundRows> {
  const { filter, sort, offset } = asked
  const parts = await queryCollection(ports, named, {
    ...(filter.trim() !== '' && { filter }),
    ...(sort.trim() !== '' && { sort }),
    offset,
    limit: rowsOfPage + 1,
    versions: true,
  })
  const isOne = idIn(filter) !== null
  const rows: ShownRow[] = []
  for await (const part of parts) {
    if (typeof part !== 'string') continue
    for (const line of part.split('\n')) if (line !== '') rows.push(toRow(line, isOne))
  }
  return { rows: rows.slice(0, rowsOfPage), hasMore: rows.length > rowsOfPage }
}

/** The `_id` of a filter that compares `_id` and nothing else. */
export function idIn(filter: string): string | null {
  const parsed = parseJson(filter)
  return isPlain(parsed) && Object.keys(parsed).length === 1 && typeof parsed._id === 'string' ? parsed._id : null
}

function toRow(line: string, isOne: boolean): ShownRow {
  const row = parseJson(line)
  if (!isPlain(row) || !isPlain(row.document) || typeof row.document._id !== 'string') throw storeUnavailable()
  const { version, document } = row
  const text = JSON.stringify(document)
  return {
    id: row.document._id,
    version: String(version),
    text: text.length > shownCharacters ? `${text.slice(0, shownCharacters)}…` : text,
    filter: JSON.stringify({ _id: document._id }),
    whole: isOne ? JSON.stringify(document, null, 2) : null,
  }
}
