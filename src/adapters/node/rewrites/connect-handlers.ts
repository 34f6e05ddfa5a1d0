import type { ConnectHandler } from './connect-shape.js'
import { whenJudged } from './judge-again.js'
import { innermost, type JudgedRequest, mountedOf, setTaken, takenOf } from './judged.js'
import { outdatedOf } from './outdated.js'

/** Runs when every guard has judged the current request. Errors go to `next`, as in connect. */
export function guardedHandler(handle: ConnectHandler): ConnectHandler {
  return function latchkey(req, res, next) {
    if (outdatedOf(req) === undefined) return handle(req, res, next)
    return whenJudged(req, res, () => {
      try {
        handle(req, res, next)
      } catch (error) {
        next(error)
      }
    })
  }
}

/** connect does not report the prefix that it removed from the path, so this keeps it until the layer is done. */
export function mountedHandler(route: string, handle: ConnectHandler): ConnectHandler {
  return function latchkey(req, res, next) {
    const taken = takenOf(req)
    const leave = (error?: unknown) => {
      setTaken(req, taken)
      next(error)
    }
    setTaken(req, { mounted: mountedOf(req) + asJudged(req, route), baseUrl: req.baseUrl ?? '' })
    try {
      handle(req, res, leave)
    } catch (error) {
      leave(error)
    }
  }
}

/**
 * The prefix as it was judged. connect compares prefixes in any case and serves every spelling alike, but `publicRoutes` are
 * exact: judged again in the spelling of the layer, a public path would be refused.
 */
function asJudged(req: JudgedRequest, route: string): string {
  const judged = innermost(req)
  const mounted = mountedOf(req)
  if (judged === undefined || !mounted.startsWith(judged.entry)) return route
  const start = mounted.length - judged.entry.length
  const spelled = judged.path.slice(start, start + route.length)
  return spelled.toLowerCase() === route.toLowerCase() ? spelled : route
}
