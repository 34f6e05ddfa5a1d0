import { type OutgoingHttpHeader, type OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { privately } from '../http/verdict.js'
import { type Add, addHeaders } from './node-message.js'

type Given = OutgoingHttpHeaders | OutgoingHttpHeader[] | undefined
type WriteHead = (this: ServerResponse, status: number, reason?: string | Given, given?: Given) => ServerResponse

/**
 * Adds the headers of what an API token opened when the head is written, by whichever call that is; what the application
 * says of the same ones counts. Others are added at once.
 *
 * For frameworks that hold the headers of an answer themselves and hand all of them over at the end: node takes those as
 * they are only while nothing has been set on the response before, and else checks and copies each once more.
 */
export const addLate: Add = (res, headers) => {
  // Somebody else may have a hand in the head already, and http2 has no such quick way.
  if (headers !== privately || Object.hasOwn(res, 'writeHead') || !(res instanceof ServerResponse)) {
    addHeaders(res, headers)
  } else res.writeHead = writeHead
}

/** One function for all responses: behind it stands what node, or a framework, has for each of them. */
function writeHead(this: ServerResponse, status: number, reason?: string | Given, given?: Given): ServerResponse {
  // Some wrap a response by inheriting from it, and so this function.
  let from: { writeHead: WriteHead } = Object.getPrototypeOf(this)
  while (from.writeHead === writeHead) from = Object.getPrototypeOf(from)
  const { writeHead: next } = from
  if (typeof reason === 'string') return next.call(this, status, reason, completed(this, given))
  return next.call(this, status, completed(this, given ?? reason))
}

/** A name that stands in both, in whatever case, is the application's. */
function completed(res: ServerResponse, given: Given): Given {
  const headers: OutgoingHttpHeaders = {}
  if (!res.hasHeader('cache-control')) headers['cache-control'] = privately['cache-control']
  if (!res.hasHeader('referrer-policy')) headers['referrer-policy'] = privately['referrer-policy']
  if (Array.isArray(given)) {
    // What a list names takes the place of what was set before.
    for (const name in headers) res.setHeader(name, headers[name] ?? '')
    return given
  }
  for (const name of Object.keys(given ?? {})) {
    const lowerCase = name.toLowerCase()
    if (lowerCase !== name) delete headers[lowerCase]
    headers[name] = given?.[name]
  }
  return headers
}
