import { releases } from '../../contract/releases.js'
import type { Route } from '../../http/route.js'
import { ndjson } from '../../http/streams/ndjson.js'
import { whileAllowed } from '../../http/streams/while-allowed.js'
import { defineControlRoute } from '../../routes/admin/control-route.js'
import type { SpacePorts } from '../flows/spaces/ports.js'
import { logRows } from './streams.js'

/** @param ports those of the running host */
export function logRoute(ports: () => SpacePorts): Route {
  return defineControlRoute({
    ...releases.log,
    streams: 'out',
    handle: async (context) => ndjson(context, whileAllowed(await logRows(ports(), context), context.still)),
  })
}
