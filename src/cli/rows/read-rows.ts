import { createReadStream, statSync } from 'node:fs'
import { extname, resolve } from 'node:path'
import { isObject, parseJson } from '../../lib/json-object.js'
import type { Environment } from '../environment.js'
import { noFile } from '../files/trusted-file.js'
import { usage } from '../tool-error.js'
import { readCsv } from './csv-rows.js'
import { isUtf8, toUtf8, WrongEncoding } from './decode.js'
import { readJsonLines } from './json-lines.js'
import { readJsonValues } from './json-values.js'
import type { Row } from './row.js'

export interface RowSource {
  /** What the number of a row counts. */
  unit: 'line' | 'element'
  rows: AsyncIterable<Row>
  /** How many bytes of the file were read. */
  read(): number
  /** Of the file; null for stdin. */
  size: number | null
}

export interface RowOptions {
  /** Between the cells of CSV. Given, the file is CSV. */
  separator?: string
  encoding: string
}

type Form = 'csv' | 'lines' | 'objects' | 'list'

/** A first line longer than this is not judged: it is a row. */
const mostJudgedBytes = 1024 * 1024
const byName: Readonly<Record<string, { form: 'csv' | 'json'; separator: string }>> = {
  '.csv': { form: 'csv', separator: ',' },
  '.tsv': { form: 'csv', separator: '\t' },
  '.json': { form: 'json', separator: ',' },
  '.jsonl': { form: 'json', separator: ',' },
  '.ndjson': { form: 'json', separator: ',' },
}

/**
 * Opens a file of rows: JSONL, a JSON list, JSON objects one after another, or CSV with the names of its fields in the first line.
 * The name of the file tells CSV and JSON apart, else its first character. `-` reads stdin.
 *
 * @throws {ToolError} usage, for a missing file
 */
export async function openRows(environment: Environment, name: string, options: RowOptions): Promise<RowSource> {
  const { bytes, size } = inputOf(environment, name)
  let read = 0
  async function* counted() {
    for await (const piece of bytes) {
      read += piece.length
      yield piece
    }
  }
  const isPlain = isUtf8(options.encoding)
  const { start, rest } = await judgedStart(isPlain ? withoutMark(counted()) : toUtf8(counted(), options.encoding))
  const named = byName[extname(name).toLowerCase()]
  const separator = separatorOf(options.separator ?? named?.separator ?? ',')
  const isCsv = options.separator !== undefined || named?.form === 'csv'
  const form = isCsv ? 'csv' : formOf(start, named === undefined)
  const rows = readForm(form, rest, separator)
  return {
    unit: form === 'csv' || form === 'lines' ? 'line' : 'element',
    rows: untilFault(rows),
    read: () => read,
    size,
  }
}

function inputOf(
  { stdin, folder }: Environment,
  name: string,
): { bytes: AsyncIterable<Uint8Array>; size: number | null } {
  if (name === '-') return { bytes: piecesOf(stdin), size: null }
  const path = resolve(folder, name)
  const stats = statSync(path, { throwIfNoEntry: false })
  if (!stats || stats.isDirectory()) throw noFile(path)
  return { bytes: piecesOf(createReadStream(path)), size: stats.isFile() ? stats.size : null }
}

async function* piecesOf(stream: NodeJS.ReadableStream): AsyncGenerator<Uint8Array> {
  for await (const piece of stream) yield Buffer.from(piece)
}

/** The beginning up to the first line break after a character, and everything again. */
async function judgedStart(
  bytes: AsyncIterable<Uint8Array>,
): Promise<{ start: string; rest: AsyncGenerator<Uint8Array> }> {
  const iterator = bytes[Symbol.asyncIterator]()
  const pieces: Uint8Array[] = []
  let start = ''
  for (let next = await iterator.next(); !next.done; next = await iterator.next()) {
    pieces.push(next.value)
    start = Buffer.concat(pieces).toString('utf8').trimStart()
    if (start.includes('\n') || start.length > mostJudgedBytes) break
  }
  async function* rest() {
    yield* pieces
    for (let next = await iterator.next(); !next.done; next = await iterator.next()) yield next.value
  }
  return { start, rest: rest() }
}

function formOf(start: string, mayBeCsv: boolean): Form {
  if (start.startsWith('[')) return 'list'
  if (start.startsWith('{')) return isWholeLine(start) ? 'lines' : 'objects'
  return mayBeCsv && start !== '' ? 'csv' : 'lines'
}

/** Whether the first line is one value, as in JSONL, also one with a mistake. Else an object goes on in the next line. */
function isWholeLine(start: string): boolean {
  const [line = ''] = start.split('\n')
  if (line.length > mostJudgedBytes || isObject(parseJson(line))) return true
  const outside = line.replace(/"(?:\\.|[^"\\])*"/g, '')
  const count = (character: string) => outside.split(character).length
  return count('{') <= count('}') && count('[') <= count(']')
}

function readForm(form: Form, bytes: AsyncGenerator<Uint8Array>, separator: string): AsyncGenerator<Row> {
  if (form === 'lines') return readJsonLines(bytes)
  // These parsers would replace wrong bytes without a word.
  const text = toUtf8(bytes, 'utf-8')
  return form === 'csv' ? readCsv(text, separator) : readJsonValues(text, form)
}

/** Ends with the fault after which nothing can be read. */
async function* untilFault(rows: AsyncIterable<Row>): AsyncGenerator<Row> {
  let line = 0
  try {
    for await (const row of rows) {
      line = row.line
      yield row
      if ('fault' in row && row.isLast) return
    }
  } catch (error) {
    if (!(error instanceof WrongEncoding)) throw error
    yield {
      line: line + 1,
      fault: 'or one after it is not in this encoding. Name another one with --encoding',
      isLast: true,
    }
  }
}

/** Without the byte order mark of UTF-8. */
async function* withoutMark(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let isFirst = true
  for await (const piece of bytes) {
    const hasMark = isFirst && piece[0] === 0xef && piece[1] === 0xbb && piece[2] === 0xbf
    yield hasMark ? piece.subarray(3) : piece
    isFirst = false
  }
}

/** @throws {ToolError} usage */
function separatorOf(given: string): string {
  const separator = given === '\\t' || given === 'tab' ? '\t' : given
  if ([...separator].length !== 1 || /["\r\n]/.test(separator))
    throw usage('--separator takes one character, such as ";" or tab.')
  return separator
}

/** Reads the first row, and gives all of them. */
export async function begun(rows: AsyncIterable<Row>): Promise<AsyncGenerator<Row>> {
  const iterator = rows[Symbol.asyncIterator]()
  const first = await iterator.next()
  async function* all() {
    for (let next = first; !next.done; next = await iterator.next()) yield next.value
  }
  return all()
}
