import type { HttpRequest } from '../../http/message.js'
import { hasMethods, memberOf } from '../../lib/members.js'
import type { Adapter, Mounting } from '../adapter.js'
import { createListener, type NodeListener, nodeGate } from './answer.js'

/** The part of a connect-style application that we use. */
interface ConnectApp {
  handle: NodeListener
  stack: unknown[]
}

/** connect, and what is made like it: the layer stands before the one method through which every request goes. Handlers read `req.auth`. */
export const connect: Adapter = {
  name: 'connect',
  recognises: isConnect,
  mount(app, handle, mounting) {
    if (!isConnect(app)) throw new TypeError('not a connect application')
    const asRouted = createReading(mounting)
    const layer = createListener((request) => handle(asRouted(request)))
    const route = app.handle
    app.handle = (req, res, next) => layer(req, res, () => route.call(app, req, res, next))
  },
  gate: nodeGate,
}

/** A dot as a segment of its own, or two, in any spelling. */
const dots = /\/(?:\.|%2e){1,2}(?:\/|$)/i

/**
 * For connect a dot ends a mount as a slash does: what is mounted at `/api` also gets `/api.x`, as `/.x`. So that is judged
 * as `/api/.x`, which no entry of `publicRoutes` means. Where only something below the mount is guarded, dots may lead there:
 * with `/v1/api` whoever resolves what `/v1` gets of `/v1./api` finds `/api`.
 */
export function createReading({ basePath, guarded }: Mounting): (request: HttpRequest) => HttpRequest {
  const prefixes = guarded.filter((prefix) => prefix !== '/')
  const borders = [...prefixes.flatMap(bordersOf), { mount: basePath.toLowerCase(), prefix: basePath }]
  return (request) => {
    const { path } = request
    if (!path.includes('.')) return request
    const border = borders.find(({ mount, prefix }) => {
      if (path[mount.length] !== '.' || path.slice(0, mount.length).toLowerCase() !== mount) return false
      return mount.length === prefix.length || dots.test(`/${path.slice(mount.length)}`)
    })
    if (border === undefined) return request
    const value = `${border.prefix}/${path.slice(border.mount.length)}`
    return Object.create(request, { path: { value } })
  }
}

/** The prefix itself, and what it may be mounted below. */
function bordersOf(prefix: string): { mount: string; prefix: string }[] {
  const parts = prefix.toLowerCase().split('/')
  return parts.slice(1).map((_, index) => ({ mount: parts.slice(0, parts.length - index).join('/'), prefix }))
}

function isConnect(app: unknown): app is ConnectApp {
  if (typeof app !== 'function' || 'engine' in app || !Array.isArray(memberOf(app, 'stack'))) return false
  return hasMethods(app, ['use', 'handle', 'listen'])
}
