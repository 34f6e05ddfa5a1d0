import type { Command } from 'commander'
import type { Tool } from '../../tool.js'
import { requireCollection } from './collection.js'
import { type IndexOptions, requireFields, withIndexOptions } from './index-options.js'

export const example = 'latchkey removeindex users email'

export function define(command: Command, open: () => Tool): void {
  withIndexOptions(command).action(
    async (given: string | undefined, fields: readonly string[], options: IndexOptions) => {
      const { output, hostHomeToChange } = open()
      const collection = requireCollection(given, options.collection)
      const names = requireFields(fields, options.index)
      const host = await hostHomeToChange()
      await host.removeIndex(collection, names)
      output.result({ collection, fields: names, removed: true }, [`Removed index for ${names.join(', ')}`])
    },
  )
}
