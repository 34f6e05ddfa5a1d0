import { once } from 'node:events'
import { styleText } from 'node:util'
import { type Environment, isUnattended, variable } from './environment.js'
import { printable, printableJson, printableText } from './printable.js'
import { problemOf, type ToolError } from './tool-error.js'

/**
 * What a command prints. stdout carries the result and nothing else; stderr carries everything for people. Every text is
 * escaped here, so a command may pass what a server sent.
 */
export interface Output {
  /** `--json`: one JSON value on stdout, and of stderr only errors, as problem details. */
  readonly json: boolean
  /** Prints the result: the value with `--json`, else the lines. */
  result(value: unknown, lines: readonly string[]): void
  /** Prints a line of the result as it comes about. Omitted with `--json`, whose value holds it. */
  line(line: string): void
  /** Prints one value of a stream as a line of JSON. */
  record(value: unknown): void
  /** Prints a part of the result as it is, and waits for a slow reader. A terminal gets it printable. */
  part(text: string): Promise<void>
  /** The same for bytes. */
  bytes(part: Uint8Array): Promise<void>
  /** Prints rows below headings, aligned; with `--json` the value. */
  table(value: unknown, headings: readonly string[], rows: readonly (readonly string[])[]): void
  /** A line for people. Omitted with `--json`. */
  note(line: string): void
  /** A line for people that is printed with `--json` too, because the command waits for them. */
  instruct(line: string): void
  error(error: ToolError): void
}

export function createOutput(environment: Environment, json: boolean): Output {
  const { stdout, stderr } = environment
  const onStdout = (line: string) => stdout.write(`${line}\n`)
  const onStderr = (line: string) => stderr.write(`${line}\n`)
  const bold = stylist(environment, stdout, 'bold')
  const red = stylist(environment, stderr, 'red')

  function result(value: unknown, lines: readonly string[]): void {
    if (json) onStdout(printableJson(value, 2))
    else for (const line of lines) onStdout(printable(line))
  }

  async function write(part: string | Uint8Array): Promise<void> {
    if (!stdout.write(part)) await once(stdout, 'drain')
  }

  return {
    json,
    result,
    line(line) {
      if (!json) onStdout(printable(line))
    },
    record: (value) => onStdout(printableJson(value)),
    part: (text) => write(stdout.isTTY === true ? text.replaceAll(/[^\n]+/g, printableText) : text),
    bytes: write,
    table(value, headings, rows) {
      if (json) {
        result(value, [])
        return
      }
      const [first = '', ...lines] = aligned([headings, ...rows])
      for (const line of [bold(first), ...lines]) onStdout(line)
    },
    note(line) {
      if (!json) onStderr(printable(line))
    },
    instruct: (line) => onStderr(printable(line)),
    error(error) {
      if (json) {
        onStderr(printableJson(problemOf(error)))
        return
      }
      const { lines = [], errors = [] } = error.details
      onStderr(`${red('error:')} ${printable(error.message)}`)
      for (const line of [...lines, ...errors.map(({ path, message }) => `  ${path}: ${message}`)])
        onStderr(printable(line))
    },
  }
}

/** Rows as lines, each column as wide as its longest cell. */
export function aligned(rows: readonly (readonly string[])[]): string[] {
  const cells = rows.map((row) => row.map(printable))
  const widths = (cells[0] ?? []).map((_, column) => Math.max(...cells.map((row) => lengthOf(row[column] ?? ''))))
  return cells.map((row) =>
    row
      .map((cell, column) => cell + ' '.repeat(Math.max(0, (widths[column] ?? 0) - lengthOf(cell))))
      .join('  ')
      .trimEnd(),
  )
}

/** Characters, not UTF-16 units. */
function lengthOf(text: string): number {
  return [...text].length
}

/** Colours a text where the stream and the user want colours (https://no-color.org, https://force-color.org). */
function stylist(environment: Environment, stream: { isTTY?: boolean }, format: 'bold' | 'red') {
  return (text: string) => (hasColours(environment, stream) ? styleText(format, text, { validateStream: false }) : text)
}

function hasColours(environment: Environment, stream: { isTTY?: boolean }): boolean {
  if (variable(environment, 'NO_COLOR') !== null) return false
  const forced = environment.variables.FORCE_COLOR
  if (forced !== undefined) return forced !== '0' && forced !== 'false'
  return stream.isTTY === true && !isUnattended(environment)
}
