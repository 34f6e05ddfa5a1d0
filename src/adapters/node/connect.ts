import type { HttpRequest } from '../../http/message.js'
import type { Adapter, Mounting } from '../adapter.js'
import { nodeGate } from './listener.js'
import { guardLayers, isConnect } from './rewrites/connect-layers.js'
import { createEntrance } from './rewrites/entrance.js'
import { leaving } from './rewrites/judged.js'

/**
 * connect, and frameworks built like it. The guard stands before the one method through which every request goes, and once
 * more before a layer that would serve a rewritten request (see `guardLayers`). Handlers read `req.auth`.
 */
export const connect: Adapter = {
  name: 'connect',
  recognises: isConnect,
  mount(app, handle, mounting) {
    if (!isConnect(app)) throw new TypeError('not a connect application')
    const asRouted = createReading(mounting)
    guardLayers(app)
    const enter = createEntrance({
      handle: (request) => handle(asRouted(request)),
      hooked: mounting.hooked,
      dress() {},
    })
    const route = app.handle
    app.handle = (req, res, next) => {
      const leave = next && leaving(req, next)
      enter(req, res, () => route.call(app, req, res, leave))
    }
  },
  gate: nodeGate,
}

/** One or two dots as a segment of their own, in any spelling. */
const dots = /\/(?:\.|%2e){1,2}(?:\/|$)/i

/**
 * In connect, a dot ends a mount path like a slash does: a handler at `/api` also gets `/api.x`, as `/.x`. So the guard judges
 * that request as `/api/.x`, which no entry of `publicRoutes` matches. If only a path below the mount is guarded, dot segments
 * may lead there: with `/v1/api` guarded, a handler at `/v1` that resolves its part of `/v1./api` reaches `/api`.
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

/** The prefix itself, and the paths below which it may be mounted. */
function bordersOf(prefix: string): { mount: string; prefix: string }[] {
  const parts = prefix.toLowerCase().split('/')
  return parts.slice(1).map((_, index) => ({ mount: parts.slice(0, parts.length - index).join('/'), prefix }))
}
