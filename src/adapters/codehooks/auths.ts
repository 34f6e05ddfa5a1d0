import type { RequestHook } from '../../http/message.js'
import { memberOf } from '../../lib/members.js'
import { remember } from '../../lib/remember.js'
import type { CodehooksRequest, CodehooksResponse } from './message.js'
import { isStrictlyBelow, toRegex } from './patterns.js'

type AuthHook = (req: CodehooksRequest, res: object, next: (fault?: unknown) => void) => unknown

/** Which of the application's `app.auth` entries speak for requests, and for this one. */
export type OwnHooks = (req: CodehooksRequest, res: CodehooksResponse, onEnded: () => void) => RequestHook

/** What ends a response. */
const endings: ReadonlySet<unknown> = new Set(['end', 'json', 'send', 'redirect', 'render'])

/**
 * The application's own `app.auth` entries strictly below a guarded prefix, registered before or after us, as hooks of the
 * guard: `next()` allows, `next(fault)` or an answer of its own refuses. The first that matches decides, as the platform
 * has it. Entries for static files are regular expressions and never among them.
 *
 * @param own patterns of ours
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
 * Its first word counts, at once where it has it at once. When it refuses by an answer of its own, that is written already:
 * `onEnded` tells whoever would write ours.
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

/** The same response, and word of its end. */
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
