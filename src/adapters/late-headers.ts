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

/** V8 would look up the prototype of an imported class at each use. */
const ofNode = ServerResponse.prototype

/** Somebody else may have a hand in the head already, and http2 has no such quick way. What node's is, is seen at once. */
function isUntouched(res: ServerResponse): boolean {
  if (res.writeHead === ofNode.writeHead) return true
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

const { 'cache-control': caching, 'referrer-policy': referrer } = privately

/** A name that stands in both, in whatever case, is the application's. */
function completed(res: ServerResponse, given: Given): Given {
  let lacksCaching = !res.hasHeader('cache-control')
  let lacksReferrer = !res.hasHeader('referrer-policy')
  // What a list names takes the place of what was set before.
  if (Array.isArray(given)) {
    if (lacksCaching) res.setHeader('cache-control', caching)
    if (lacksReferrer) res.setHeader('referrer-policy', referrer)
    return given
  }
  let count = 0
  let last = ''
  for (const name in given) {
    count += 1
    last = name
    if (isName(name, 'cache-control') && Object.hasOwn(given, name)) lacksCaching = false
    else if (isName(name, 'referrer-policy') && Object.hasOwn(given, name)) lacksReferrer = false
  }
  if (lacksCaching && lacksReferrer) return withBoth(given, count === 1 ? last : '')
  if (lacksCaching) return { 'cache-control': caching, ...given }
  return lacksReferrer ? { 'referrer-policy': referrer, ...given } : given
}

/**
 * Literals: to copy what may have any name takes V8 four times as long, and what Hono gives names its type alone, mostly.
 *
 * @param only the name of the only one there is; else ''
 */
function withBoth(given: OutgoingHttpHeaders | undefined, only: string): OutgoingHttpHeaders {
  if (only !== 'Content-Type' || given === undefined || !Object.hasOwn(given, only)) {
    return { 'cache-control': caching, 'referrer-policy': referrer, ...given }
  }
  return { 'cache-control': caching, 'referrer-policy': referrer, 'Content-Type': given['Content-Type'] }
}

/** Most are written in lower case, and need no second text. */
function isName(name: string, wanted: string): boolean {
  return name.length === wanted.length && (name === wanted || name.toLowerCase() === wanted)
}

const writePrivately = completing(completed)
