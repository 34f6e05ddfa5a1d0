import type { PageOf } from '../../contract/reading.js'
import type { PageInput } from '../home.js'
import type { Output } from '../output.js'
import { usage } from '../tool-error.js'

/** The options of a command that prints one page of a list. */
export const listOptions = [
  ['--limit <number>', 'How many to print, 1 to 200 (default: 50)'],
  ['--cursor <cursor>', 'Go on where the page before ended'],
] as const

/** @throws {ToolError} usage */
export function pageInput({ limit, cursor }: { limit?: string | undefined; cursor?: string | undefined }): PageInput {
  const count = Number(limit ?? 50)
  if (!Number.isInteger(count) || count < 1 || count > 200) throw usage('--limit takes a number from 1 to 200.')
  return { limit: count, ...(cursor !== undefined && { cursor }) }
}

/** The columns of a table: a heading, and what stands below it. */
export type Columns<Item> = Readonly<Record<string, (item: Item) => string | number | null>>

/** Prints a short list, or `none` for people when it is empty. With `--json`, the value is the list. */
export function printList<Item>(
  output: Output,
  items: readonly Item[],
  columns: Columns<Item>,
  { none, value = items }: { none?: string; value?: unknown } = {},
): void {
  const rows = items.map((item) => Object.values(columns).map((cellOf) => String(cellOf(item) ?? '')))
  output.table(value, Object.keys(columns), rows)
  if (items.length === 0 && none !== undefined) output.note(none)
}

/** Prints a page of a list, and how to see the next one. */
export function printPage<Item>(output: Output, page: PageOf<Item>, columns: Columns<Item>, none?: string): void {
  printList(output, page.items, columns, { value: page, ...(none !== undefined && { none }) })
  if (page.nextCursor !== null) output.note(`There is more. Add: --cursor ${page.nextCursor}`)
}
