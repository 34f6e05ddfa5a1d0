import { parseJsonObject } from '../../lib/json-object.js'
import type { Query, Rows } from '../collection-calls.js'
import { defineCommand } from '../command.js'
import { isInteractive } from '../environment.js'
import type { HostHome } from '../host-home.js'
import type { Output } from '../output.js'
import { toCsv } from '../rows/csv-text.js'
import { type Change, changeOf, type QueryOptions, queryOf, queryOptions } from '../rows/query-options.js'
import { jsonArray } from '../rows/streamed.js'
import type { Tool } from '../tool.js'
import { usage } from '../tool-error.js'
import { requireCollection, requireOneForm } from './collections.js'

export const query = defineCommand({
  example: "latchkey query users 'age>23&sort=-age' --limit 10",
  arguments: [
    ['[collection]', 'the collection'],
    ['[query]', 'as in a URL, such as name=Ally, or a filter in JSON (default: everything)'],
  ],
  options: queryOptions,
  async run(tool, given, argument, options) {
    const collection = requireCollection(given)
    const query = queryOf(argument, options)
    const change = changeOf(options)
    requireOneForm(options)
    if (change !== null) await changeObjects(tool, collection, query, change)
    else if (options.count === true) {
      const count = await (await tool.hostHome()).count(collection, { ...query, count: true })
      tool.output.result({ collection, count }, [String(count)])
    } else await printObjects(tool, await tool.hostHome(), { collection, query, options })
  },
})

/** Asks first, with the number of objects that would change now. */
async function changeObjects(tool: Tool, collection: string, query: Query, change: Change): Promise<void> {
  const { output, prompts, hostHomeToChange } = tool
  const host = await hostHomeToChange()
  const [verb, done] = change.delete
    ? ['deletes', 'Deleted']
    : change.update
      ? ['updates', 'Updated']
      : ['replaces', 'Replaced']
  const matching = await host.count(collection, { ...query, count: true })
  await prompts.agree(`This ${verb} ${matching} objects of ${collection} in ${host.space()}. Go on?`)
  const count = await host.count(collection, { ...query, ...change })
  output.result({ collection, count }, [`${done} ${count} objects`])
}

/** Prints the objects of a query in the form that the options choose. */
async function printObjects(
  { output, environment }: Tool,
  host: HostHome,
  { collection, query, options }: { collection: string; query: Query; options: QueryOptions },
): Promise<void> {
  const rows = await host.query(collection, query)
  if (options.table === true) {
    await showTable(output, rows)
    return
  }
  const parts = options.csv ? toCsv(rows, isInteractive(environment)) : jsonArray(rows, options.pretty === true)
  for await (const part of parts) await output.part(part)
}

/** A table knows its widths only when all rows are there. */
const mostRows = 10_000

/** Prints rows below the names of all their fields. @throws {ToolError} usage, for more than 10,000 rows */
async function showTable(output: Output, rows: Rows): Promise<void> {
  const objects: Readonly<Record<string, unknown>>[] = []
  for await (const row of rows) {
    if (objects.length === mostRows) throw usage(`A table has at most ${mostRows} rows. Add --limit, or use --csv.`)
    objects.push(parseJsonObject(row) ?? {})
  }
  const names = [...new Set(objects.flatMap((object) => Object.keys(object)))]
  const cells = objects.map((object) => names.map((name) => cellOf(object[name])))
  if (names.length > 0) output.table(objects, names, cells)
}

function cellOf(value: unknown): string {
  if (value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}
