import type { HttpResponse } from '../../http/message.js'
import type { Handle } from '../../http/verdict.js'
import { hasMethods } from '../../lib/members.js'
import type { Adapter, Mounting } from '../adapter.js'
import { type OwnHooks, ownHooks } from './auths.js'
import { withoutOurCollections } from './collections.js'
import { createGate, createHook, type Hook, prepare } from './hook.js'
import { answer } from './message.js'
import { openPatterns, patterns, routesOf } from './patterns.js'
import { isCodehooksRequest, isCodehooksResponse } from './shape.js'
import { hostSpace } from './space-host.js'

/** The part of a codehooks-js application that we use. It calls `auths`, then picks a route, then calls `appmiddleware`. */
interface CodehooksApp {
  all(path: string, hook: Hook): unknown
  auths: object
  appmiddleware: unknown[]
}

const nothing: HttpResponse = { status: 404, headers: {}, body: null }

/**
 * codehooks-js.
 *
 * The platform asks the auth hooks, and the first match wins, so ours stand first. Their result does not reach the route, and
 * hooks of the application or a platform token can bypass them. So the first middleware decides again for every request,
 * answers the auth routes, and gives the application `req.auth`.
 */
export const codehooks: Adapter = {
  name: 'codehooks-js',
  echoesCors: true,
  cookieSuffix: hostSpace,
  recognises: isCodehooks,
  mount(app, handle, paths) {
    if (!isCodehooks(app)) throw new TypeError('not a codehooks-js application')
    const ourPatterns = [...openPatterns(paths), ...paths.guarded.flatMap(patterns)]
    const own = ownHooks(app.auths, new Set(ourPatterns), paths.guarded)
    putFirst(app.auths, hooksOf(handle, paths, own))
    // The runtime calls middleware only where a route matches.
    for (const pattern of openPatterns(paths)) app.all(pattern, (req, res) => answer(req, res, nothing))
    app.appmiddleware.unshift(withoutOurCollections(createHook(handle, prepare, own)))
  },
  routes: routesOf,
  gate(ask) {
    const hook = createGate(ask)
    return (req, res, next) => {
      if (!(isCodehooksRequest(req) && isCodehooksResponse(res))) throw new TypeError('not a codehooks-js request')
      return hook(req, res, next)
    }
  },
}

function isCodehooks(app: unknown): app is CodehooksApp {
  const isApp = typeof app === 'object' && hasMethods(app, ['auth', 'init', 'all', 'setDatastore'])
  return isApp && 'auths' in app && 'appmiddleware' in app
}

function hooksOf(handle: Handle, paths: Mounting, own: OwnHooks): Record<string, Hook> {
  const { guarded } = paths
  const open = openPatterns(paths).map((pattern): [string, Hook] => [pattern, (_req, _res, next) => next()])
  const gate = createHook(handle, () => {}, own)
  return Object.fromEntries([...open, ...guarded.flatMap(patterns).map((pattern): [string, Hook] => [pattern, gate])])
}

/**
 * Our hooks keep their place and value. The application's hook under the same pattern is ignored. Its hooks below a guarded
 * prefix come after ours, so the platform never asks them; the guard does.
 */
function putFirst(auths: object, hooks: Readonly<Record<string, Hook>>): void {
  const theirs = Object.getOwnPropertyDescriptors(auths)
  const ours: PropertyDescriptorMap = {}
  for (const [pattern, hook] of Object.entries(hooks)) {
    ours[pattern] = { get: () => [hook], set: () => {}, enumerable: true, configurable: true }
  }
  for (const pattern of Object.keys(theirs)) Reflect.deleteProperty(auths, pattern)
  Object.defineProperties(auths, { ...ours, ...theirs, ...ours })
}
