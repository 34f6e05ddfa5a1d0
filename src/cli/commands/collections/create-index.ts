import type { Command } from 'commander'
import { startProgress } from '../../progress.js'
import type { Tool } from '../../tool.js'
import { requireCollection } from './collection.js'
import { type IndexOptions, requireFields, withIndexOptions } from './index-options.js'

export const example = 'latchkey createindex users email'

export function define(command: Command, open: () => Tool): void {
  withIndexOptions(command, 'fields, each of which gets an index of its own')
    .option('--unique', 'No two objects may have the same value in a field')
    .action(
      async (given: string | undefined, fields: readonly string[], options: IndexOptions & { unique?: boolean }) => {
        const { environment, output, hostHomeToChange } = open()
        const collection = requireCollection(given, options.collection)
        const names = requireFields(fields, options.index)
        const host = await hostHomeToChange()
        const progress = await startProgress(environment, `Creating index for ${names.join(', ')}`, output.json)
        const count = await host
          .createIndex(collection, { fields: names, unique: options.unique === true }, ({ processed, of, field }) =>
            progress.step(`Creating index for ${field}: ${processed} of ${of} objects`, processed / Math.max(1, of)),
          )
          .finally(progress.stop)
        output.result({ collection, fields: names, count }, [`Finished creating index for ${count} objects`])
      },
    )
}
