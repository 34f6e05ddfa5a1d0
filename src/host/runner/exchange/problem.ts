import type { ServerResponse } from 'node:http'

/** What the runner itself answers: status and sentence by code. */
const problems = {
  invalid_request: [400, 'The request is malformed.'],
  query_invalid: [400, 'The query is not valid.'],
  unauthenticated: [401, 'Sign in to continue.'],
  forbidden: [403, 'This is not allowed.'],
  not_found: [404, 'There is nothing here.'],
  already_exists: [409, 'Another document has this value in a unique field.'],
  not_current: [409, 'The document changed in the meantime. Try again.'],
  payload_too_large: [413, 'The request body is too large.'],
  quota_exceeded: [413, 'A limit of this space is reached.'],
  internal_error: [500, 'The application failed.'],
  not_here: [501, 'This is not supported here.'],
  store_unavailable: [503, 'The data of this space cannot be reached. Try again shortly.'],
  application_timeout: [504, 'The application did not answer in time.'],
} as const

export type ProblemCode = keyof typeof problems

export interface Problem {
  status: number
  headers: Readonly<Record<string, string>>
  text: string
}

/** An RFC 9457 problem with the headers and fields of the front's own. */
export function problem(code: ProblemCode, requestId: string | undefined, detail?: string): Problem {
  const [status, sentence] = problems[code]
  const title = `${code.slice(0, 1).toUpperCase()}${code.slice(1).replaceAll('_', ' ')}`
  const body = { type: `urn:latchkey:error:${code}`, title, status, code, detail: detail ?? sentence, requestId }
  const headers = {
    'content-type': 'application/problem+json',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...(requestId !== undefined && { 'x-request-id': requestId }),
    // RFC 6750 §3
    ...(status === 401 && { 'www-authenticate': 'Bearer realm="latchkey"' }),
    ...(status === 503 && { 'retry-after': '1' }),
  }
  return { status, headers, text: JSON.stringify(body) }
}

/** Headers of an answer that was begun and then replaced by a problem. */
const kept = /^(?:access-control-|connection$|vary$)/

/** Sends a problem, or cuts the connection when a part of another answer is on its way already. */
export function sendProblem(out: ServerResponse, { status, headers, text }: Problem): void {
  if (out.writableEnded) return
  if (out.headersSent) return void out.destroy()
  for (const name of out.getHeaderNames()) if (!kept.test(name)) out.removeHeader(name)
  // Node keeps the length of an answer that it could not begin, so the length is named.
  out.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(text) }).end(text)
}
