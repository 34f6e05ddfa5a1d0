import type { RequestHook } from '../../http/message.js'
import { memberOf } from '../../lib/members.js'
import { remember } from '../../lib/remember.js'
import type { Mounting } from '../adapter.js'
import type { CodehooksRequest, CodehooksResponse } from './message.js'

type AuthHook = (req: CodehooksRequest, res: object, next: (fault?: unknown) => void) => unknown

/** The `app.auth` entries of the application that apply to requests, as hooks, and those that apply to this request. */
export type OwnHooks = (req: CodehooksRequest, res: CodehooksResponse, onEnded: () => void) => RequestHook

/** The methods that end a response. */
const endings: ReadonlySet<unknown> = new Set(['end', 'json', 'send', 'redirect', 'render'])

/**
 * The application's own `app.auth` entries strictly below a guarded prefix, registered before or after ours, as hooks of the
 * guard: `next()` allows; `next(fault)` or a response of its own refuses. The first entry that matches decides, as on the
 * platform. Entries for static files are regular expressions and are left out.
 *
 * @param own our own patterns
 */
export function ownHooks(auths: object, own: ReadonlySet<string>, guarded: readonly string[]): OwnHooks {
  const regexOf = remember(toRegex)
  const isBelow = remember((pattern) => guarded.some((prefix) => isStrictlyBelow(pattern, prefix)))

  return (req, res, onEnded) => (path) => {
    const pattern = Object.keys(auths).find((key) => !own.has(key) && isBelow(key) && regexOf(key).test(path))
    const [hook]: unknown[] = pattern === undefined ? [] : [memberOf(auths, pattern)].flat()
    if (pattern === undefined || !isHook(hook)) return null
    return { name: pattern, decide: () => decide(hook, req, res, onEnded) }
  }
}

/**
 * The entry's first result counts, synchronously if it comes synchronously. An entry may refuse by its own response, which is
 * then written already: `onEnded` tells the guard not to write another.
 */
function decide(
  hook: AuthHook,
  req: CodehooksRequest,
  res: CodehooksResponse,
  onEnded: () => void,
): boolean | Promise<boolean> {
  const words: boolean[] = []
  let settle = () => {}
  const decideOnce = (allowed: boolean) => {
    words.push(allowed)
    settle()
  }
  const ended = () => {
    onEnded()
    decideOnce(false)
  }
  const result = hook(req, watched(res, ended), (fault) => decideOnce(fault === undefined || fault === null))
  const [first] = words
  if (first !== undefined) return first
  return new Promise((resolve, reject) => {
    settle = () => resolve(words[0] === true)
    Promise.resolve(result).catch(reject)
  })
}

/** The same response, with a callback for its end. */
function watched(res: CodehooksResponse, ended: () => void): object {
  return new Proxy(res, {
    get(target, name) {
      const member = memberOf(target, name)
      if (typeof member !== 'function') return member
      return (...input: unknown[]) => {
        if (endings.has(name)) ended()
        const result: unknown = Reflect.apply(member, target, input)
        return result === target ? watched(target, ended) : result
      }
    },
  })
}

function isHook(value: unknown): value is AuthHook {
  return typeof value === 'function'
}

/** Whether the pattern has at least one further segment. The guard's own pattern is `/api/*`. */
function isStrictlyBelow(pattern: string, prefix: string): boolean {
  const base = prefix === '/' ? '/' : `${prefix}/`
  return pattern.toLowerCase().startsWith(base) && /^[^*/]/.test(pattern.slice(base.length))
}

/** The platform's rules: case does not matter, `*` is anything, `:name` is one segment, a slash at the end is optional. */
function toRegex(pattern: string): RegExp {
  const source = pattern
    .replace(/\/$/, '')
    .replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&')
    .replaceAll(/:\w+/g, '[^/]+')
    .replaceAll('*', '.*')
  return new RegExp(`^${source}/?$`, 'i')
}

/** The paths of the application's routes, which it keeps as `GET /path`; of a regular expression what it keeps as JSON. */
export function routesOf(app: unknown): string[] {
  const keys = Object.keys(Object(memberOf(app, 'routes')))
  return keys.map((key) => key.replace(/^\S+ /, ''))
}

/** Of our own routes, which every visitor may ask. */
export function openPatterns({ basePath, atRoot = [] }: Mounting): string[] {
  return [...patterns(basePath), ...atRoot]
}

/** `/api/*` does not match `/api`. */
export function patterns(prefix: string): string[] {
  return prefix === '/' ? ['/', '/*'] : [prefix, `${prefix}/*`]
}
