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

/** One function for all responses: on its way stands what node, or a framework, has for each of them. */
function writeHead(this: ServerResponse, status: number, reason?: string | Given, given?: Given): ServerResponse {
  const { writeHead: next }: { writeHead: WriteHead } = Object.getPrototypeOf(this)
  if (typeof reason === 'string') return next.call(this, status, reason, completed(this, given))
  return next.call(this, status, completed(this, given ?? reason))
}

function completed(res: ServerResponse, given: Given): Given {
  const missing: OutgoingHttpHeaders = {}
  for (const [name, value] of lines) if (!res.hasHeader(name) && !names(given, name)) missing[name] = value
  if (!Array.isArray(given)) return Object.assign(missing, given)
  for (const name in missing) res.setHeader(name, missing[name] ?? '')
  return given
}

const lines = Object.freeze(Object.entries(privately))

/** In whatever case. What a list names takes the place of what was set before, so it is not asked. */
function names(given: Given, name: string): boolean {
  if (Array.isArray(given)) return false
  for (const key in given) if (key.length === name.length && key.toLowerCase() === name) return true
  return false
}
