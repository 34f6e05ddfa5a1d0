import { home } from '../../contract/home.js'
import { json } from '../../http/problem.js'
import type { Route } from '../../http/route.js'
import { defineTokenRoute } from '../../routes/admin/control-route.js'
import { homeAnswer } from '../../routes/admin/home.js'
import type { SpacePorts } from '../flows/spaces/ports.js'
import { listAllSpaces } from '../flows/spaces/spaces.js'

/** The root of the control API, with the project and its spaces. */
export function homeRoute(host: () => { ports: SpacePorts; project: string }): Route {
  return defineTokenRoute({
    ...home.readHost,
    async handle(context) {
      const { ports, project } = host()
      const { caller } = context
      const narrowed = caller.kind === 'adminToken' ? caller.token.spaces : null
      const spaces = (await listAllSpaces(ports)).filter(({ id }) => narrowed === null || narrowed.includes(id))
      const rows = spaces.map(({ name, url, release }) => ({ name, url, release }))
      return json(200, { ...(await homeAnswer(context)), project, spaces: rows })
    },
  })
}
