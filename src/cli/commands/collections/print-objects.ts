import type { Query } from '../../collection-calls.js'
import { isInteractive } from '../../environment.js'
import type { HostHome } from '../../host-home.js'
import { toCsv } from '../../rows/csv-text.js'
import type { Tool } from '../../tool.js'
import type { QueryOptions } from './query-options.js'
import { showTable } from './row-table.js'
import { jsonArray } from './streamed.js'

/** Prints the objects of a query in the form that the options choose. */
export async function printObjects(
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
