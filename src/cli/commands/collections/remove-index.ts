import type { Command } from 'commander'
import type { HostHome } from '../../host-home.js'
import type { Tool } from '../../tool.js'
import { ToolError } from '../../tool-error.js'
import { requireCollection } from './collection.js'
import { type IndexOptions, requireFields, withIndexOptions } from './index-options.js'

export const example = 'latchkey removeindex users email'

export function define(command: Command, open: () => Tool): void {
  withIndexOptions(command, 'fields whose indexes are removed').action(
    async (given: string | undefined, fields: readonly string[], options: IndexOptions) => {
      const { output, hostHomeToChange } = open()
      const collection = requireCollection(given, options.collection)
      const names = requireFields(fields, options.index)
      const { removed, missing } = await removeEach(await hostHomeToChange(), collection, names)
      const fault = `There is no index for ${missing.join(', ')} in ${collection}`
      if (removed.length === 0) throw new ToolError(1, 'not_found', `${fault}.`)
      output.result({ collection, fields: removed, missing, removed: true }, [
        `Removed index for ${removed.join(', ')}`,
      ])
      if (missing.length > 0) throw new ToolError(6, 'partly_done', `${fault}.`)
    },
  )
}

/** One call a field, because the host does not answer which of several it removed. */
async function removeEach(
  host: HostHome,
  collection: string,
  fields: readonly string[],
): Promise<{ removed: string[]; missing: string[] }> {
  const removed: string[] = []
  const missing: string[] = []
  for (const field of fields) {
    const isRemoved = await host.removeIndex(collection, field).catch((error: unknown) => {
      throw withRemoved(error, removed)
    })
    const names = isRemoved ? removed : missing
    names.push(field)
  }
  return { removed, missing }
}

function withRemoved(error: unknown, removed: readonly string[]): unknown {
  if (!(error instanceof ToolError) || removed.length === 0) return error
  const { exitCode, code, message, details } = error
  const lines = [...(details.lines ?? []), `Removed before: index for ${removed.join(', ')}`]
  return new ToolError(exitCode, code, message, { ...details, lines })
}
