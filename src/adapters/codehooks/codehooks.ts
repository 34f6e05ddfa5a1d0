import type { HttpResponse } from '../../http/message.js'
import type { Handle } from '../../http/verdict.js'
import { hasMethods } from '../../lib/members.js'
import type { Adapter, Mounting } from '../adapter.js'
import { type OwnHooks, openPatterns, ownHooks, patterns, routesOf } from './auths.js'
import { createGate, createHook, type Hook, prepare } from './hook.js'
import { answer, type CodehooksRequest, hostSpace, isCodehooksRequest, isCodehooksResponse } from './message.js'

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

/** The prefix of our collections when the store is in a `Datastore`, at the beginning of a path segment. */
const ours = /(?:^|\/)latchkey_/i
/** How often a path is decoded at most. Each round costs time in proportion to the path's length. */
const readings = 8

/**
 * Answers 404 wherever a URL names a collection of ours. `crudlify` with an empty schema offers every collection of the
 * application's Datastore to every caller it accepts: accounts, sessions and digests are among them.
 */
export function withoutOurCollections(hook: Hook): Hook {
  return (req, res, next) => {
    if (namesOurs(req)) return answer(req, res, { status: 404, headers: {}, body: null })
    return hook(req, res, next)
  }
}

function namesOurs({ apiPath, apipath, originalUrl, params }: CodehooksRequest): boolean {
  const [fullPath = ''] = String(originalUrl).split('?')
  const named = [apiPath ?? apipath, fullPath, ...Object.values(params ?? {})]
  return named.some((text) => typeof text === 'string' && leadsToOurs(text))
}

/** Hosts differ in whether, and how often, they decode a path, so every stage of decoding is checked. */
function leadsToOurs(path: string): boolean {
  let text = path
  for (let reading = 0; reading < readings; reading += 1) {
    if (ours.test(text)) return true
    const decoded = decode(text)
    if (decoded === text) return false
    text = decoded
  }
  // No honest client encodes a path this often.
  return true
}

function decode(text: string): string {
  return text.replace(/%([0-9a-f]{2})/gi, (_code, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}
