import type { Duplex } from 'node:stream'
import { isObject } from '../../lib/json-object.js'
import { loadRowPackage } from './packages.js'
import { mostRowBytes, type Row, tooLong } from './row.js'

const closingBrace = 0x7d

/**
 * The elements of a JSON list, or JSON objects one after another, from a text in UTF-8. They are counted from 1. After a
 * mistake in the JSON nothing can be read.
 *
 * @throws {ToolError} for a missing package
 */
export async function* readJsonValues(bytes: AsyncIterable<Uint8Array>, form: 'list' | 'objects'): AsyncGenerator<Row> {
  const parser = await openParser(form)
  let number = 0
  let size = 0
  try {
    for await (const piece of piecesOf(bytes)) {
      const values = await parser.parse(piece)
      size = values.length === 0 ? size + (piece?.length ?? 0) : 0
      for (const value of values) {
        number += 1
        yield rowOf(number, value)
      }
      if (size > mostRowBytes) break
    }
  } catch (error) {
    if (!(error instanceof NotJson)) throw error
    yield { line: number + 1, fault: 'is no JSON', isLast: true }
  } finally {
    parser.close()
  }
  if (size > mostRowBytes) yield { line: number + 1, fault: tooLong, isLast: true }
}

class NotJson extends Error {}

/** A parser that is fed piece by piece. null ends the text. */
interface Parser {
  /** The values that are complete by now. @throws {NotJson} */
  parse(piece: Uint8Array | null): Promise<unknown[]>
  close(): void
}

async function openParser(form: 'list' | 'objects'): Promise<Parser> {
  const stream = await openStream(form)
  let values: unknown[] = []
  stream.on('data', (item: { value: unknown }) => values.push(item.value))
  stream.on('error', () => {}) // Each write reports its own.
  return {
    async parse(piece) {
      await new Promise<void>((resolve, reject) => {
        const done = (error?: Error | null) => (error ? reject(new NotJson()) : resolve())
        if (piece === null) stream.end(done)
        else stream.write(piece, done)
      })
      const complete = values
      values = []
      return complete
    },
    close: () => void stream.destroy(),
  }
}

async function openStream(form: 'list' | 'objects'): Promise<Duplex> {
  if (form === 'list')
    return (await loadRowPackage('streamArray')).streamArray.withParserAsStream({ streamValues: false })
  return (await loadRowPackage('streamValues')).streamValues.withParserAsStream({ streamValues: false })
}

/** Each piece ends an object at most, so that a mistake costs no element before it. */
async function* piecesOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array | null> {
  for await (const piece of bytes) {
    let from = 0
    for (let end = piece.indexOf(closingBrace); end !== -1; end = piece.indexOf(closingBrace, from)) {
      yield piece.subarray(from, end + 1)
      from = end + 1
    }
    if (from < piece.length) yield piece.subarray(from)
  }
  yield null
}

function rowOf(line: number, value: unknown): Row {
  if (!isObject(value)) return { line, fault: 'is no object', isLast: false }
  try {
    return { line, json: JSON.stringify(value) }
  } catch {
    return { line, fault: 'nests too deep', isLast: false }
  }
}
