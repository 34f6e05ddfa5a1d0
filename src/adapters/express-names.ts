import type { ServerResponse } from 'node:http'
import type { NodeRequest } from './node-message.js'

export type ExpressHandle = (req: ExpressRequest, res: ExpressResponse, done: (error?: unknown) => void) => unknown

/** With what Express 4 and 5 write to every one. */
interface ExpressRequest extends NodeRequest {
  _parsedUrl?: unknown
  next?: unknown
  baseUrl?: unknown
  route?: unknown
  params?: unknown
}

interface ExpressResponse extends ServerResponse {
  locals?: unknown
}

/**
 * Express gives each request another prototype before its router sees it. A property that is new to a request from then on
 * has V8 make a shape for that one request; one that is there already does not. Those shapes cost many times as much as the
 * guard: a quarter of what Express does for a small route. So our property and those of Express are there from the start,
 * reading as they do when they are missing. (But for `query`: in Express 5 it is the prototype's.)
 */
export function nameEarly(app: { handle: ExpressHandle }): void {
  const { handle } = app
  app.handle = (req, res, done) => {
    req.auth ??= null
    req._parsedUrl ??= undefined
    req.next ??= undefined
    req.baseUrl ??= undefined
    req.originalUrl ??= undefined
    req.route ??= undefined
    req.params ??= undefined
    res.locals ??= undefined
    return handle.call(app, req, res, done)
  }
}
