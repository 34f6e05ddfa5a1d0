import { collections } from '../../../contract/collections.js'
import type { Route } from '../../../http/route.js'
import { ndjson } from '../../../http/streams/ndjson.js'
import { whileAllowed } from '../../../http/streams/while-allowed.js'
import { defineTokenRoute } from '../../../routes/admin/control-route.js'
import { queryChoice } from '../../../routes/admin/fields.js'
import { type ImportEnd, importLines } from '../../flows/collections/import.js'
import type { CollectionPorts } from '../../flows/collections/ports.js'
import { errorRow, progressRows, type Reported } from '../progress.js'
import type { Row } from '../row-queue.js'

export function importRoute(ports: () => CollectionPorts): Route {
  return defineTokenRoute({
    ...collections.import,
    streams: 'both',
    async handle(context) {
      const { params, request, caller, still } = context
      const flag = (name: string) => queryChoice(request, name, ['true', 'false']) === 'true'
      const options = { upsert: flag('upsert'), dryrun: flag('dryrun') }
      const named = { space: params.space ?? '', collection: params.c ?? '', visitor: caller.visitor }
      const lines = context.upload(ports().uploadBytes)
      const judged = (received: AsyncIterable<Uint8Array>) => whileAllowed(received, still)
      const { run } = await importLines(ports(), named, { ...options, lines, judged })
      return ndjson(
        context,
        progressRows(context, async (report, left) => {
          return lastRow(context, await run((state) => report({ ...state }), left))
        }),
      )
    },
  })
}

function lastRow(context: Reported, { imported, faults, failed, error }: ImportEnd): Row {
  const outcome = { imported, faults, failed }
  return error === null ? { finished: true, ...outcome } : { ...errorRow(context, error), ...outcome }
}
