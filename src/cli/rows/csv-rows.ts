import { pipeline, Readable } from 'node:stream'
import type { CsvError, InfoField } from 'csv-parse'
import { usage } from '../tool-error.js'
import { createLineBreaks, type LineBreaks } from './line-breaks.js'
import { loadRowPackage } from './packages.js'
import { mostRowBytes, type Row, tooLong } from './row.js'
import { typedCell } from './typed-text.js'

/** A cell that is left out: without quotes, an empty one has no value. */
const absent = Symbol('absent')

/** After these, the parser cannot find the next record. */
const endings: Readonly<Record<string, string>> = {
  CSV_MAX_RECORD_SIZE: tooLong,
  CSV_QUOTE_NOT_CLOSED: 'has a quote that nothing closes',
}

/**
 * The rows of a CSV text in UTF-8, as objects of the names in its first line. A cell without quotes is typed,
 * but not that of `_id`, which is always text.
 *
 * @throws {ToolError} usage, for a first line that names no fields, and a missing package
 */
export async function* readCsv(bytes: AsyncIterable<Uint8Array>, separator: string): AsyncGenerator<Row> {
  const { parse } = await loadRowPackage('csvParse')
  const breaks = createLineBreaks()
  const reading = createReading(breaks)
  const parser = parse({
    delimiter: separator,
    record_delimiter: ['\r\n', '\n', '\r'],
    skip_empty_lines: true,
    relax_column_count: true,
    skip_records_with_error: true,
    max_record_size: mostRowBytes,
    cast: reading.cell,
    on_record: reading.record,
    on_skip: reading.fault,
  })
  // An error of the source ends the parser, whose iterator throws it.
  pipeline(Readable.from(noted(bytes, breaks)), parser, () => {})
  try {
    for await (const [line, json] of parser) {
      yield* reading.takeFaults()
      yield { line: Number(line), json: String(json) }
    }
  } catch (error) {
    if (!(error instanceof CannotGoOn)) throw error
  }
  yield* reading.takeFaults()
}

class CannotGoOn extends Error {}

async function* noted(bytes: AsyncIterable<Uint8Array>, breaks: LineBreaks): AsyncGenerator<Uint8Array> {
  for await (const piece of bytes) {
    breaks.add(piece)
    yield piece
  }
}

/** What the parser calls, one cell and one record after another. */
function createReading(breaks: LineBreaks) {
  let names: readonly string[] | null = null
  let line = 1
  let faults: Row[] = []

  function report(fault: string, isLast: boolean): void {
    // A record with several wrong quotes is one fault.
    if (faults.at(-1)?.line !== line) faults.push({ line, fault, isLast })
  }

  return {
    cell(text: string, { index, quoting, bytes }: InfoField): unknown {
      // `bytes` is where the cell ends, and the parser counts the line breaks of quoted cells in its own way.
      if (index === 0) line = breaks.lineAt(bytes) - (text.match(/\r\n|\n|\r/g)?.length ?? 0)
      if (names === null || quoting) return text
      if (text === '') return absent
      return names[index] === '_id' ? text : typedCell(text)
    },
    /** Its line and its JSON. */
    record(cells: readonly unknown[]): string[] | null {
      if (names === null) {
        names = requireNames(cells)
        return null
      }
      if (cells.length === names.length) return [String(line), toJson(names, cells)]
      report(`has ${cells.length} cells, and the first line has ${names.length}`, false)
      return null
    },
    fault(error: CsvError | undefined): undefined {
      const [code, index, bytes] = [error?.code ?? '', error?.index, error?.bytes]
      // In the first cell, `bytes` is where the record before ends.
      if (index === 0 && typeof bytes === 'number') line = breaks.lineAt(bytes)
      const ending = endings[code]
      report(
        ending ?? 'has a quote within a cell. Put the cell in quotes, and write its quotes twice',
        ending !== undefined,
      )
      if (code === 'CSV_MAX_RECORD_SIZE') throw new CannotGoOn()
    },
    takeFaults(): Row[] {
      const taken = faults
      faults = []
      return taken
    },
  }
}

function requireNames(cells: readonly unknown[]): string[] {
  const names = cells.map(String)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (names.includes('')) throw usage('The first line of the CSV file must name a field in each cell.')
  if (twice !== undefined) throw usage(`The first line of the CSV file names the field ${twice} twice.`)
  return names
}

function toJson(names: readonly string[], cells: readonly unknown[]): string {
  const entries = names.map((name, index): [string, unknown] => [name, cells[index]])
  return JSON.stringify(Object.fromEntries(entries.filter(([, value]) => value !== absent)))
}
