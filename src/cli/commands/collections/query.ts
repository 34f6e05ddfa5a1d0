import type { Command } from 'commander'
import type { Tool } from '../../tool.js'
import { changeObjects } from './change-objects.js'
import { requireCollection } from './collection.js'
import { requireOneForm } from './one-form.js'
import { printObjects } from './print-objects.js'
import { changeOf, type QueryOptions, queryOf } from './query-options.js'

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
    .option('--reverse', 'In descending order; not with --sort')
    .option('--useindex <field>', 'Read the index of this field')
    .option('--start <value>', 'With --useindex: from this value on')
    .option('--end <value>', 'With --useindex: up to this value')
    .option('--pretty', 'Indent the JSON')
    .option('--table', 'Print a table')
    .option('--csv', 'Print CSV, with a column for each field of any object')
    .action(async (given: string | undefined, argument: string | undefined, options: QueryOptions) => {
      const tool = open()
      const collection = requireCollection(given)
      const query = queryOf(argument, options)
      const change = changeOf(options)
      requireOneForm(options)
      if (change !== null) await changeObjects(tool, collection, query, change)
      else if (options.count === true) {
        const count = await (await tool.hostHome()).count(collection, { ...query, count: true })
        tool.output.result({ collection, count }, [String(count)])
      } else await printObjects(tool, await tool.hostHome(), { collection, query, options })
    })
}
