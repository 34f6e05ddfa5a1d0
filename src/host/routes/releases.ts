import { releases } from '../../contract/releases.js'
import { empty, json } from '../../http/problem.js'
import type { Route } from '../../http/route.js'
import { ndjson } from '../../http/streams/ndjson.js'
import type { ReleaseLimits } from '../../model/release.js'
import { defineTokenRoute } from '../../routes/admin/control-route.js'
import type { SpacePorts } from '../flows/spaces/ports.js'
import { listReleases, undeploy } from '../flows/spaces/releases.js'
import { activateAtOnce, activateRows, deployRows } from './streams.js'

/** Below `/spaces/:space`, so that a token which is narrowed to spaces is judged. @param ports those of the running host */
export function releaseRoutes(ports: () => SpacePorts): readonly Route[] {
  return [
    defineTokenRoute({
      ...releases.list,
      handle: async ({ params }) => json(200, { items: await listReleases(ports(), params.space ?? '') }),
    }),
    ...switchingRoutes(ports),
    defineTokenRoute({
      ...releases.undeploy,
      form: { page: '/releases', section: 'undeploy', done: 'undeployed' },
      async handle({ params, caller }, { confirm }) {
        await undeploy(ports(), { space: params.space ?? '', confirm, visitor: caller.visitor })
        return empty(204)
      },
    }),
  ]
}

/** They answer with a row for each step. */
function switchingRoutes(ports: () => SpacePorts): readonly Route[] {
  return [
    defineTokenRoute({
      ...releases.deploy,
      streams: 'both',
      async handle(context) {
        const { params, request, caller } = context
        const asked = { params, request, visitor: caller.visitor, context }
        return ndjson(context, deployRows(ports(), asked, context.upload(mostBytes(ports().limits.release))))
      },
    }),
    defineTokenRoute({
      ...releases.activate,
      form: { page: '/releases', section: 'releases', done: 'release_activated' },
      streams: 'out',
      async handle(context) {
        const { params, request, caller, asPage } = context
        const asked = { params, request, visitor: caller.visitor, context }
        if (!asPage) return ndjson(context, activateRows(ports(), asked))
        await activateAtOnce(ports(), asked)
        return empty(204)
      },
    }),
  ]
}

/** Of an archive. Unpacked, it is judged by each part. */
function mostBytes({ code, assets }: ReleaseLimits): number {
  return code + assets + 16 * 1024 * 1024
}
