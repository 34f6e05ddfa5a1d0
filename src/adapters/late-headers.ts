import { type OutgoingHttpHeader, type OutgoingHttpHeaders, ServerResponse } from 'node:http'

import { addHeaders } from './node-message.js'

type Added = Readonly<Record<string, string>>
type Given = OutgoingHttpHeaders | OutgoingHttpHeader[] | undefined

/** A response whose head is to get those headers once it is written. */
interface LateResponse extends ServerResponse {
  [waiting]?: Added
}

const waiting = Symbol('latchkey.headers')

/**
 * Adds headers when the head is written, by whichever call that is; what the application says of the same ones counts.
 *
 * For frameworks that hold the headers of an answer themselves and hand all of them over at the end: node takes those as
 * they are only while nothing has been set on the response before, and else checks and copies each once more.
 */
export function addLate(res: ServerResponse, headers: Added): void {
  // A list is put together with what others say; somebody else may have a hand in the head; http2 has no such quick way.
  if ('vary' in headers || Object.hasOwn(res, 'writeHead') || !(res instanceof ServerResponse)) {
    addHeaders(res, headers)
    return
  }
  const late: LateResponse = res
  late[waiting] = headers
  late.writeHead = writeHead
}

type WriteHead = (this: ServerResponse, status: number, reason?: string | Given, given?: Given) => ServerResponse

/** One function for all responses: on its way stands what node, or a framework, has for each of them. */
function writeHead(this: LateResponse, status: number, reason?: string | Given, given?: Given): ServerResponse {
  const { writeHead: next }: { writeHead: WriteHead } = Object.getPrototypeOf(this)
  if (typeof reason === 'string') return next.call(this, status, reason, completed(this, given))
  return next.call(this, status, completed(this, given ?? reason))
}

function completed(res: LateResponse, given: Given): Given {
  const headers = res[waiting] ?? {}
  const missing: OutgoingHttpHeaders = {}
  for (const name in headers) if (!res.hasHeader(name) && !names(given, name)) missing[name] = headers[name]
  if (!Array.isArray(given)) return Object.assign(missing, given)
  for (const name in missing) res.setHeader(name, missing[name] ?? '')
  return given
}

/** In whatever case. What a list names takes the place of what was set before, so it is not asked. */
function names(given: Given, name: string): boolean {
  if (Array.isArray(given)) return false
  for (const key in given) if (key.length === name.length && key.toLowerCase() === name) return true
  return false
}
