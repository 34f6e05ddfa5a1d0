import type { Query } from '../../collection-calls.js'
import { readJsonObject, readOptions, readQuery } from '../../rows/read-query.js'
import { typedText } from '../../rows/typed-text.js'
import { usage } from '../../tool-error.js'

export interface QueryOptions {
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

export type Change = Pick<Query, 'update' | 'replace' | 'delete'>

/** @throws {ToolError} usage */
export function queryOf(argument: string | undefined, options: QueryOptions): Query {
  if (argument !== undefined && options.query !== undefined) throw usage('Give the query as the argument or with -q.')
  const { sort, fields, limit, offset, reverse, useindex, start, end } = options
  if (useindex === undefined && (start ?? end) !== undefined) throw usage('--start and --end need --useindex <field>.')
  const query = {
    ...readQuery(options.query ?? argument ?? ''),
    ...readOptions({
      ...(sort !== undefined && { sort }),
      ...(fields !== undefined && { fields }),
      ...(limit !== undefined && { limit }),
      ...(offset !== undefined && { offset }),
    }),
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
