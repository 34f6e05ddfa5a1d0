import type { Command } from 'commander'
import type { Query } from '../../collection-calls.js'
import { isInteractive } from '../../environment.js'
import type { HostHome } from '../../host-home.js'
import { toCsv } from '../../rows/csv-text.js'
import { readJsonObject, readOptions, readQuery } from '../../rows/read-query.js'
import { typedText } from '../../rows/typed-text.js'
import type { Tool } from '../../tool.js'
import { usage } from '../../tool-error.js'
import { requireCollection } from './collection.js'
import { showTable } from './row-table.js'
import { jsonArray } from './streamed.js'

interface Options {
  query?: string
  count?: boolean
  delete?: boolean
  update?: string
  replace?: string
  sort?: string
  fields?: string
  limit?: string
  offset?: string
  reverse?: boolean
  useindex?: string
  start?: string
  end?: string
  pretty?: boolean
  table?: boolean
  csv?: boolean
}

export const example = "latchkey query users 'age>23&sort=-age' --limit 10"

export function define(command: Command, open: () => Tool): void {
  command
    .argument('[collection]', 'the collection')
    .argument('[query]', 'as in a URL, such as name=Ally, or a filter in JSON (default: everything)')
    .option('-q, --query <query>', 'The query, instead of the argument')
    .option('--count', 'Print how many objects match')
    .option('--delete', 'Delete the objects that match')
    .option('--update <operators>', 'Update the objects that match, such as {"$set":{"seen":true}}')
    .option('--replace <object>', 'Replace the objects that match. They keep their _id')
    .option('--sort <fields>', 'Such as -age,name')
    .option('--fields <fields>', 'Print these fields only')
    .option('--limit <number>', 'At most so many')
    .option('--offset <number>', 'Leave out the first ones')
    .option('--reverse', 'In descending order')
    .option('--useindex <field>', 'Read the index of this field')
    .option('--start <value>', 'With --useindex: from this value on')
    .option('--end <value>', 'With --useindex: up to this value')
    .option('--pretty', 'Indent the JSON')
    .option('--table', 'Print a table')
    .option('--csv', 'Print CSV, with a column for each field of any object')
    .action(async (given: string | undefined, argument: string | undefined, options: Options) => {
      const tool = open()
      const collection = requireCollection(given)
      const query = queryOf(argument, options)
      const change = changeOf(options)
      if (change !== null) await write(tool, collection, query, change)
      else if (options.count === true) {
        const count = await (await tool.hostHome()).count(collection, { ...query, count: true })
        tool.output.result({ collection, count }, [String(count)])
      } else await print(tool, await tool.hostHome(), { collection, query, options })
    })
}

/** @throws {ToolError} usage */
function queryOf(argument: string | undefined, options: Options): Query {
  if (argument !== undefined && options.query !== undefined) throw usage('Give the query as the argument or with -q.')
  const { sort, fields, limit, offset, reverse, useindex, start, end } = options
  if (useindex === undefined && (start ?? end) !== undefined) throw usage('--start and --end need --useindex <field>.')
  return {
    ...readQuery(options.query ?? argument ?? ''),
    ...readOptions({
      ...(sort !== undefined && { sort }),
      ...(fields !== undefined && { fields }),
      ...(limit !== undefined && { limit }),
      ...(offset !== undefined && { offset }),
    }),
    ...(reverse === true && { reverse }),
    ...(useindex !== undefined && { useIndex: useindex }),
    ...(start !== undefined && { start: typedText(start) }),
    ...(end !== undefined && { end: typedText(end) }),
  }
}

type Change = Pick<Query, 'update' | 'replace' | 'delete'>

/** @throws {ToolError} usage */
function changeOf({ update, replace, delete: isDelete, ...rest }: Options): Change | null {
  const changes: Change[] = [
    ...(update === undefined ? [] : [{ update: readJsonObject(update, '--update') }]),
    ...(replace === undefined ? [] : [{ replace: readJsonObject(replace, '--replace') }]),
    ...(isDelete === true ? [{ delete: true }] : []),
  ]
  const [change = null, ...more] = changes
  const prints = [rest.count, rest.pretty, rest.table, rest.csv].some(Boolean)
  if (more.length > 0) throw usage('--update, --replace and --delete exclude each other.')
  if (change !== null && prints)
    throw usage('A change prints no objects: leave --count, --pretty, --table and --csv out.')
  return change
}

/** Asks first, with the number of objects that would change now. */
async function write(tool: Tool, collection: string, query: Query, change: Change): Promise<void> {
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

async function print(
  { output, environment }: Tool,
  host: HostHome,
  { collection, query, options }: { collection: string; query: Query; options: Options },
): Promise<void> {
  const rows = await host.query(collection, query)
  if (options.table === true) {
    await showTable(output, rows)
    return
  }
  const parts = options.csv ? toCsv(rows, isInteractive(environment)) : jsonArray(rows, options.pretty === true)
  for await (const part of parts) await output.part(part)
}
