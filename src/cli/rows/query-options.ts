import type { Query } from '../collection-calls.js'
import type { OptionsOf } from '../command.js'
import { usage } from '../tool-error.js'
import { readJsonObject, readOptions, readQuery } from './read-query.js'
import { typedText } from './typed-text.js'

/** The options of a query. */
export const queryOptions = [
  ['-q, --query <query>', 'The query, instead of the argument'],
  ['--count', 'Print how many objects match'],
  ['--delete', 'Delete the objects that match'],
  ['--update <operators>', 'Update the objects that match, such as {"$set":{"seen":true}}'],
  ['--replace <object>', 'Replace the objects that match. They keep their _id'],
  ['--sort <fields>', 'Such as -age,name'],
  ['--fields <fields>', 'Print these fields only'],
  ['--limit <number>', 'At most so many'],
  ['--offset <number>', 'Leave out the first ones'],
  ['--reverse', 'In descending order; not with --sort'],
  ['--useindex <field>', 'Read the index of this field'],
  ['--start <value>', 'With --useindex: from this value on'],
  ['--end <value>', 'With --useindex: up to this value'],
  ['--pretty', 'Indent the JSON'],
  ['--table', 'Print a table'],
  ['--csv', 'Print CSV, with a column for each field of any object'],
] as const
export type QueryOptions = OptionsOf<typeof queryOptions>

/** A change of the documents that match. */
export type Change = Pick<Query, 'update' | 'replace' | 'delete'>

/** @throws {ToolError} usage */
export function queryOf(argument: string | undefined, options: QueryOptions): Query {
  if (argument !== undefined && options.query !== undefined) throw usage('Give the query as the argument or with -q.')
  const { reverse, useindex, start, end } = options
  if (useindex === undefined && (start ?? end) !== undefined) throw usage('--start and --end need --useindex <field>.')
  const query = {
    ...readQuery(options.query ?? argument ?? ''),
    ...readOptions(options),
  }
  // The host would sort, and ignore the other.
  if (reverse === true && query.sort !== undefined) {
    throw usage('--reverse does not go with a sort. Write the sort in descending order instead, as in --sort -age.')
  }
  return {
    ...query,
    ...(reverse === true && { reverse }),
    ...(useindex !== undefined && { useIndex: useindex }),
    ...(start !== undefined && { start: typedText(start) }),
    ...(end !== undefined && { end: typedText(end) }),
  }
}

/** @throws {ToolError} usage */
export function changeOf({ update, replace, delete: isDelete, ...rest }: QueryOptions): Change | null {
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
