import type { Operation } from '../../contract/operation.js'
import { type Fields, listIn, numberIn, textIn } from '../../lib/json-fields.js'
import type { Address } from '../address.js'
import type { DataCalls, Imported, OnIndexStep, Rows } from '../collection-calls.js'
import { ToolError } from '../tool-error.js'
import type { Call, Client, StreamCall } from './calls.js'
import { type CallLine, inSpace } from './contract-calls.js'
import { contract } from './contract-table.js'
import { asOurs, notOurs } from './send.js'

/** Longer than the host lets a query or a batch take. */
const idleMs = 120_000
/** Of the answer to an import or an index: its progress, and 1,000 faults. */
const progressBytes = 64 * 1024 * 1024

/** The calls on the data of one space. @param below its path */
export function dataCalls(client: Client, address: Address, below: () => string): DataCalls {
  const { createIndexes, removeIndexes, query, import: imports } = contract.collections
  const at = <Of extends Operation>(line: CallLine<Of>, c: string) => inSpace(below(), line, { c })
  const bounds = { idleMs, mostBytes: progressBytes }
  return {
    createIndex: (collection, { fields, unique }, onStep) => {
      const body = { fields, ...(unique && { unique }) }
      return createIndex(client, address, { ...at(createIndexes, collection), ...bounds, body }, onStep)
    },
    removeIndex: (collection, field) => {
      const body = { fields: [field], confirm: field }
      return removeIndex(client, { ...at(removeIndexes, collection), body })
    },
    query: (collection, body) => readRows(client, { ...at(query, collection), ...bounds, body }),
    count: (collection, body) => count(client, address, { ...at(query, collection), ...bounds, body }),
    exportRows: (collection) => {
      const target = inSpace(below(), contract.backups.exportCollection, { collection })
      return readRows(client, { ...target, idleMs, mostBytes: null })
    },
    importRows: (collection, { open, dryrun, upsert }) => {
      const flags = { ...(dryrun && { dryrun: 'true' }), ...(upsert && { upsert: 'true' }) }
      const upload = { open, type: 'application/jsonl' }
      return importRows(client, address, { ...at(imports, collection), ...bounds, query: flags, upload })
    },
  }
}

async function createIndex(client: Client, { site }: Address, call: StreamCall, onStep: OnIndexStep): Promise<number> {
  const { rows } = await client.stream(call)
  let documents = 0
  for await (const row of rows('finished')) {
    if (row.finished === undefined) {
      const step = asOurs(site, () => ({
        processed: numberIn(row, 'processed'),
        of: numberIn(row, 'of'),
        field: textIn(row, 'field'),
      }))
      documents = Math.max(documents, step.processed)
      onStep(step)
    } else return typeof row.finished === 'number' ? row.finished : documents
  }
  throw notOurs(site, 'no last row')
}

async function removeIndex(client: Client, call: Call): Promise<boolean> {
  try {
    await client.answer(call)
    return true
  } catch (error) {
    if (error instanceof ToolError && error.code === 'not_found') return false
    throw error
  }
}

async function readRows(client: Client, call: StreamCall): Promise<Rows> {
  return (await client.stream(call)).lines(() => {})
}

async function count(client: Client, { site }: Address, call: StreamCall): Promise<number> {
  const { lines } = await client.stream(call)
  let end: Fields = {}
  for await (const _ of lines((given) => {
    end = given
  })) {
    // A count has no rows.
  }
  return asOurs(site, () => numberIn(end, 'count'))
}

async function importRows(client: Client, { site }: Address, call: StreamCall): Promise<Imported> {
  let sent = 0
  let imported = 0
  let isAnswered = false
  const onSent = (bytes: number) => {
    sent = bytes
  }
  try {
    const { rows } = await client.stream({ ...call, onSent })
    isAnswered = true
    for await (const row of rows('finished')) {
      if (row.finished !== undefined) return asOurs(site, () => readImported(row))
      if (typeof row.imported === 'number') imported = row.imported
    }
  } catch (error) {
    if (!(error instanceof ToolError) || call.query?.dryrun !== undefined) throw error
    // A connection or a proxy that breaks hides what the host has written.
    const isBegun = isAnswered || (sent > 0 && error.code === 'unreachable')
    throw isBegun ? withImported(error, imported) : error
  }
  throw notOurs(site, 'no last row')
}

/** What was written before the import broke off stays. */
function withImported({ exitCode, code, message, details }: ToolError, imported: number): ToolError {
  const count = imported === 0 ? 'Some objects may have been imported.' : `At least ${imported} objects were imported.`
  const lines = [...(details.lines ?? []), `${count} Import the file again with --upsert, which replaces them.`]
  return new ToolError(exitCode, code, message, { ...details, lines })
}

function readImported(row: Fields): Imported {
  const fault = (item: Fields) => ({ line: numberIn(item, 'line'), fault: textIn(item, 'fault') })
  return { imported: numberIn(row, 'imported'), failed: listIn(row, 'failed', fault) }
}
