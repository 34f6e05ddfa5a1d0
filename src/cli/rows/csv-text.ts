import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Fields } from '../../lib/json-fields.js'
import { isObject, parseJsonObject } from '../../lib/json-object.js'
import { loadRowPackage } from './packages.js'
import { typedCell } from './typed-text.js'

/** Lines in one write. */
const batchSize = 500

/**
 * Rows of JSON as CSV. The columns are all fields of all rows, in the order of their first appearance; so the rows wait in a
 * temporary file until the last one has come. Objects and lists are JSON. Text that could be read as another value has quotes.
 *
 * @param isSafe writes `'` before text that a spreadsheet would take for a formula
 * @throws {ToolError} for a missing package, and what the rows throw
 */
export async function* toCsv(rows: AsyncIterable<string>, isSafe: boolean): AsyncGenerator<string> {
  const { stringify } = await loadRowPackage('csvStringify')
  const names = new Set<string>()
  const spool = await openSpool()
  try {
    for await (const row of rows) {
      for (const name of Object.keys(parseJsonObject(row) ?? {})) names.add(name)
      await spool.add(row)
    }
    const columns = [...names]
    const write = (records: unknown[][]) => stringify(records, { escape_formulas: isSafe, cast })
    if (columns.length > 0) yield write([columns])
    for await (const batch of spool.batches()) {
      yield write(batch.map((row) => columns.map((name) => cellOf(parseJsonObject(row) ?? {}, name))))
    }
  } finally {
    await spool.close()
  }
}

/** csv-stringify asks by the type of the value. Null and absent fields are empty cells without quotes. */
const cast = {
  boolean: String,
  string: (value: string) => ({ value, quoted: value === '' || typedCell(value) !== value }),
  object: (value: Fields) => {
    const date = dateIn(value)
    return date ?? { value: JSON.stringify(value), quoted: true }
  },
}

function cellOf(row: Fields, name: string): unknown {
  return Object.hasOwn(row, name) ? row[name] : undefined
}

function dateIn(value: unknown): string | null {
  return isObject(value) && Object.keys(value).length === 1 && typeof value.$date === 'string' ? value.$date : null
}

interface Spool {
  add(row: string): Promise<void>
  batches(): AsyncGenerator<string[]>
  close(): Promise<void>
}

/** Rows in a file of mode 0600 that has no name any more where the system allows it. */
async function openSpool(): Promise<Spool> {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-'))
  const file = await open(join(folder, 'rows'), 'wx+', 0o600)
  const remove = () => rm(folder, { recursive: true, force: true })
  await remove().catch(() => {}) // Windows keeps open files.
  let waiting: string[] = []
  const flush = async () => {
    if (waiting.length > 0) await file.appendFile(waiting.map((row) => `${row}\n`).join(''))
    waiting = []
  }
  return {
    async add(row) {
      waiting.push(row)
      if (waiting.length === batchSize) await flush()
    },
    async *batches() {
      await flush()
      yield* batchesOf(file)
    },
    async close() {
      await file.close().catch(() => {})
      await remove()
    },
  }
}

async function* batchesOf(file: FileHandle): AsyncGenerator<string[]> {
  let batch: string[] = []
  for await (const row of file.readLines({ start: 0 })) {
    batch.push(row)
    if (batch.length < batchSize) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}
