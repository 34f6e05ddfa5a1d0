import type { Route } from '../../http/route.js'
import { ndjson } from '../../http/streams/ndjson.js'
import { whileAllowed } from '../../http/streams/while-allowed.js'
import { defineControlRoute } from '../../routes/admin/control-route.js'
import type { SpacePorts } from '../flows/spaces/ports.js'
import { logRows } from './streams.js'

/** @param ports those of the running host */
export function logRoute(ports: () => SpacePorts): Route {
  return defineControlRoute({
    method: 'GET',
    path: '/logs',
    body: null,
    home: 'space',
    who: 'admin',
    command: 'log',
    streams: 'out',
    summary: 'The last 500 lines that the application printed, and with `follow` those to come.',
    query: {
      follow: '`true`: new lines follow.',
      since: 'Lines from this time on, ISO 8601.',
      level: '`info` or `error`.',
    },
    answers: { 200: 'lines' },
    errors: ['space_not_found'],
    handle: async (context) => ndjson(context, whileAllowed(await logRows(ports(), context), context.still)),
  })
}
