import type { ServerResponse } from 'node:http'
import type { NodeRequest } from './node-message.js'

export type ExpressHandle = (req: ExpressRequest, res: ExpressResponse, done: (error?: unknown) => void) => unknown

/** With what Express 4 and 5 have written to every one by the time a handler sees it. */
export interface ExpressRequest extends NodeRequest {
  _parsedUrl?: unknown
  next?: unknown
  baseUrl?: unknown
  params?: unknown
}

export interface ExpressResponse extends ServerResponse {
  locals?: unknown
}

/**
 * Express gives each request another prototype, and writes to it after that. A property that is new by then has V8 make a
 * shape for that one request; one that is there already does not. All of those take longer than the guard. So what Express
 * writes to every request is there from the start, undefined until it does, and so is `auth`. What that is worth without a
 * guard shows in `npm run bench guard express` (`named-early`).
 *
 * Left alone: `route`, which is missing where no route matches, and handlers ask whether it is (`'route' in req`); `query`,
 * which belongs to the prototype in Express 5; what a symbol names. A value that an application gave one of our names on
 * `app.request` or `app.response` is not found, as Express overwrites it on most requests.
 */
export function nameEarly(app: { handle: ExpressHandle }): void {
  const { handle } = app
  app.handle = (req, res, done) => {
    req.auth ??= null
    req._parsedUrl ??= undefined
    req.next ??= undefined
    req.baseUrl ??= undefined
    req.originalUrl ??= undefined
    req.params ??= undefined
    res.locals ??= undefined
    return handle.call(app, req, res, done)
  }
}
