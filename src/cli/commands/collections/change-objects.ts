import type { Query } from '../../collection-calls.js'
import type { Tool } from '../../tool.js'
import type { Change } from './query-options.js'

/** Asks first, with the number of objects that would change now. */
export async function changeObjects(tool: Tool, collection: string, query: Query, change: Change): Promise<void> {
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
