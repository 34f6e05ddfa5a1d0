import { guardedHandler, mountedHandler } from './connect-handlers.js'
import { type ConnectApp, type ConnectLayer, guarded, isConnect, isUnguarded } from './connect-shape.js'
import { guardLayers as guardExpressLayers } from './express-layers.js'
import { isExpress, isRouter, routerOf } from './express-shape.js'

/**
 * Judges requests again before a layer runs, if the application has rewritten their path or method since.
 *
 * connect has no hook between two layers but keeps them in a list, so each layer is wrapped there: present ones, those that
 * `app.use` adds, and at each request those that were added in another way. An application that is mounted after `init` is
 * treated alike. The layers of one that was mounted before are in a closure of connect and cannot be reached.
 */
export function guardLayers(app: ConnectApp): void {
  if (app[guarded]) return
  app[guarded] = true
  const { use, handle } = app
  guardStack(app)
  app.use = (...given) => {
    const used = use.apply(app, given)
    given.forEach(guardMounted)
    guardStack(app)
    return used
  }
  app.handle = (req, res, next) => {
    guardStack(app)
    return handle.call(app, req, res, next)
  }
}

function guardStack({ stack }: ConnectApp): void {
  for (const layer of stack) if (isUnguarded(layer)) guardLayer(layer)
}

function guardMounted(app: unknown): void {
  if (isConnect(app)) guardLayers(app)
  else if (isExpress(app)) guardExpressLayers(routerOf(app))
  else if (isRouter(app)) guardExpressLayers(app)
}

function guardLayer(layer: ConnectLayer): void {
  const { handle, route } = layer
  if (handle.length < 4) {
    const guarding = guardedHandler(handle)
    layer.handle = route === '' || route === '/' ? guarding : mountedHandler(route, guarding)
  }
  layer[guarded] = layer.handle
}
