import { defineCommand, separated } from '../command.js'
import type { HostHome } from '../host-home.js'
import { startProgress } from '../progress.js'
import { ToolError, usage } from '../tool-error.js'
import { requireCollection } from './collections.js'

const collection = ['[collection]', 'the collection'] as const
const indexOptions = [
  ['-c, --collection <collection>', 'The collection, instead of the argument'],
  ['-i, --index <field>', 'A field (repeatable)', { parse: separated }],
] as const

export const createIndex = defineCommand({
  example: 'latchkey createindex users email',
  arguments: [collection, ['[field...]', 'fields, each of which gets an index of its own']],
  options: [...indexOptions, ['--unique', 'No two objects may have the same value in a field']],
  async run({ environment, output, hostHomeToChange }, given, fields, options) {
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
})

export const removeIndex = defineCommand({
  example: 'latchkey removeindex users email',
  arguments: [collection, ['[field...]', 'fields whose indexes are removed']],
  options: indexOptions,
  async run({ output, hostHomeToChange }, given, fields, options) {
    const collection = requireCollection(given, options.collection)
    const names = requireFields(fields, options.index)
    const { removed, missing } = await removeEach(await hostHomeToChange(), collection, names)
    const fault = `There is no index for ${missing.join(', ')} in ${collection}`
    if (removed.length === 0) throw new ToolError(1, 'not_found', `${fault}.`)
    output.result({ collection, fields: removed, missing, removed: true }, [`Removed index for ${removed.join(', ')}`])
    if (missing.length > 0) throw new ToolError(6, 'partly_done', `${fault}.`)
  },
})

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

/** @throws {ToolError} usage */
function requireFields(given: readonly string[], more: readonly string[] = []): string[] {
  const fields = [...new Set([...given.flatMap((each) => separated(each)), ...more])]
  if (fields.length === 0) throw usage('Name a field, as in: latchkey createindex users email')
  return fields
}
