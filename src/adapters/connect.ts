import type { Adapter } from './adapter.js'
import { createListener, type NodeListener, nodeGate } from './node-message.js'

/** The part of a connect-style application that we use. */
interface ConnectApp {
  handle: NodeListener
  stack: unknown[]
}

/** connect, and what is made like it: the layer stands before the one method through which every request goes. Handlers read `req.auth`. */
export const connect: Adapter = {
  name: 'connect',
  recognises: isConnect,
  mount(app, handle) {
    if (!isConnect(app)) throw new TypeError('not a connect application')
    const layer = createListener(handle)
    const route = app.handle
    app.handle = (req, res, next) => layer(req, res, () => route.call(app, req, res, next))
  },
  gate: nodeGate,
}

function isConnect(app: unknown): app is ConnectApp {
  if (typeof app !== 'function' || 'engine' in app || !Array.isArray(Reflect.get(app, 'stack'))) return false
  return ['use', 'handle', 'listen'].every((name) => typeof Reflect.get(app, name) === 'function')
}
