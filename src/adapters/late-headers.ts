import { type OutgoingHttpHeader, type OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { privately } from '../http/verdict.js'
import { type Add, addHeaders } from './add-headers.js'

export type Given = OutgoingHttpHeaders | OutgoingHttpHeader[] | undefined
export type WriteHead = (this: ServerResponse, status: number, reason?: string | Given, given?: Given) => ServerResponse

/**
 * Adds the headers of what an API token opened when the head is written, by whichever call that is; what the application
 * says of the same ones counts. Others are added at once.
 *
 * For frameworks that hold the headers of an answer themselves and hand all of them over at the end: node takes those as
 * they are only while nothing has been set on the response before, and else checks and copies each once more.
 */
export const addLate: Add = (res, headers) => {
  if (headers === privately && isUntouched(res)) res.writeHead = writePrivately
  else addHeaders(res, headers)
}

/** Somebody else may have a hand in the head already, and http2 has no such quick way. What node's is, is seen at once. */
function isUntouched(res: ServerResponse): boolean {
  if (res.writeHead === ServerResponse.prototype.writeHead) return true
  return !Object.hasOwn(res, 'writeHead') && res instanceof ServerResponse
}

/**
 * A `writeHead` that completes what is given to it and goes on with `before`. Without that it is one function for all
 * responses: behind it stands what node, or a framework, has for each of them.
 */
export function completing(complete: (res: ServerResponse, given: Given) => Given, before?: WriteHead): WriteHead {
  return function writeHead(status, reason, given) {
    const next = before ?? inherited(this, writeHead)
    if (typeof reason === 'string') return next.call(this, status, reason, complete(this, given))
    return next.call(this, status, complete(this, given ?? reason))
  }
}

/** Some wrap a response by inheriting from it, and so `own`. */
function inherited(res: ServerResponse, own: WriteHead): WriteHead {
  let from: { writeHead: WriteHead } = Object.getPrototypeOf(res)
  while (from.writeHead === own) from = Object.getPrototypeOf(from)
  return from.writeHead
}

/** A name that stands in both, in whatever case, is the application's. A literal takes a quarter of the time of a loop. */
function completed(res: ServerResponse, given: Given): Given {
  if (Array.isArray(given) || res.getHeaderNames().length > 0 || namesOneOfThem(given)) return besides(res, given)
  const { 'cache-control': caching, 'referrer-policy': referrer } = privately
  return { 'cache-control': caching, 'referrer-policy': referrer, ...given }
}

/** In more time: what is given takes the place of what was set before. */
function besides(res: ServerResponse, given: Given): Given {
  for (const [name, value] of Object.entries(privately)) if (!res.hasHeader(name)) res.setHeader(name, value)
  return given
}

function namesOneOfThem(given: OutgoingHttpHeaders | undefined): boolean {
  for (const name in given) {
    // Most names need no second text.
    if ((name.length === 13 || name.length === 15) && name.toLowerCase() in privately) return true
  }
  return false
}

const writePrivately = completing(completed)
