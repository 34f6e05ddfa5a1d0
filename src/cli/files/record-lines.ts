import { createReadStream } from 'node:fs'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { parseJson } from '../../lib/json-object.js'
import type { Environment } from '../environment.js'
import { usage } from '../tool-error.js'
import { noFile, statOrNull } from './trusted-file.js'

/** A record of a file, and its line from 1. In a JSON list, the records are counted. */
export interface RecordLine {
  line: number
  /** Undefined: the line is no JSON. */
  record: unknown
}

/**
 * Reads records: one JSON value a line, or one JSON list. `-` reads stdin.
 *
 * @throws {ToolError} usage, for a missing file and for a list that is no JSON
 */
export async function* readRecordLines(environment: Environment, name: string): AsyncGenerator<RecordLine> {
  const list: string[] = []
  let line = 0
  let isFirst = true
  for await (const raw of createInterface({ input: inputOf(environment, name) })) {
    line += 1
    const text = raw.replace(/^\uFEFF/, '').trim()
    if (text === '') continue
    if (list.length > 0 || (isFirst && text.startsWith('['))) list.push(text)
    else yield { line, record: parseJson(text) }
    isFirst = false
  }
  if (list.length > 0) yield* recordsIn(list.join('\n'))
}

function inputOf({ stdin, folder }: Environment, name: string): NodeJS.ReadableStream {
  if (name === '-') return stdin
  const path = resolve(folder, name)
  if (!statOrNull(path)?.isFile()) throw noFile(path)
  return createReadStream(path)
}

function recordsIn(text: string): RecordLine[] {
  const records = parseJson(text)
  if (Array.isArray(records)) return records.map((record: unknown, index) => ({ line: index + 1, record }))
  throw usage(
    'The file begins with [ but is not a valid JSON list. Write a JSON list of records, or one JSON record per line.',
  )
}
