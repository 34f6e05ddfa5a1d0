import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import type { ForwardedHeaders, Pass } from '../../http/verdict.js'
import { isApiKeyName, takeApiKey, withQuery } from '../../lib/api-key-query.js'
import { memberOf } from '../../lib/members.js'
import type { NodeRequest } from './message.js'

/** Changes the request into what the application should see. */
export function dressRequest(req: NodeRequest, { spoofedHeaders, query, forwarded, principal }: Pass): void {
  if (query !== null) writeQuery(req, query)
  if (spoofedHeaders.length > 0) dropHeaders(req, spoofedHeaders)
  if (forwarded !== null) {
    dropUnread(req)
    writeHeaders(req.headers, forwarded)
  }
  req.auth = principal
}

/**
 * Removes spoofed headers from `headers` and from `rawHeaders`, which proxies forward. Node builds `headersDistinct` from
 * `rawHeaders` on first access and uses its own count of them, so that count must shrink too.
 */
function dropHeaders(req: NodeRequest, spoofedHeaders: readonly string[]): void {
  const { headers, rawHeaders } = req
  for (const name of spoofedHeaders) delete headers[name]
  let kept = 0
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ''
    const value = rawHeaders[index + 1] ?? ''
    if (spoofedHeaders.includes(name.toLowerCase())) continue
    rawHeaders[kept] = name
    rawHeaders[kept + 1] = value
    kept += 2
  }
  rawHeaders.length = kept
  for (const symbol of Object.getOwnPropertySymbols(req)) {
    if (symbol.description === 'kHeadersCount') Reflect.set(req, symbol, kept)
    // Already built: Node builds it again on the next access.
    else if (symbol.description === 'kHeadersDistinct') Reflect.set(req, symbol, null)
  }
}

/**
 * Writes the query everywhere the application may read it. Express 4 keeps the parsed query; Express 5 parses again. The
 * original URL keeps its own: the application may have rewritten the other one.
 */
function writeQuery(req: NodeRequest, query: string): void {
  req.url = withQuery(req.url ?? '/', query)
  if (req.originalUrl !== undefined) req.originalUrl = withoutApiKey(req.originalUrl)
  if (Object.hasOwn(req, 'query')) dropApiKey(memberOf(req, 'query'))
}

function withoutApiKey(url: string): string {
  const mark = url.indexOf('?')
  const found = mark === -1 ? null : takeApiKey(url.slice(mark + 1))
  return found === null ? url : withQuery(url, found.rest)
}

/** Removes the API key from a query that a framework has parsed. Some of these objects have no prototype. */
export function dropApiKey(parsed: unknown): void {
  if (typeof parsed !== 'object' || parsed === null) return
  for (const name of Object.keys(parsed)) if (isApiKeyName(name)) Reflect.deleteProperty(parsed, name)
}

/** Written out by name: a loop over the names takes longer than everything else in the guard. */
export function writeHeaders(headers: NodeRequest['headers'], forwarded: ForwardedHeaders): void {
  headers['x-request-id'] = forwarded['x-request-id']
  const ip = forwarded['x-real-ip']
  if (ip !== null) headers['x-real-ip'] = ip
  const chain = forwarded['x-forwarded-for']
  if (chain !== null) headers['x-forwarded-for'] = chain
  headers['x-forwarded-host'] = forwarded['x-forwarded-host']
  headers['x-forwarded-port'] = forwarded['x-forwarded-port']
  headers['x-forwarded-proto'] = forwarded['x-forwarded-proto']
  headers['x-forwarded-scheme'] = forwarded['x-forwarded-scheme']
  headers['x-scheme'] = forwarded['x-scheme']
  const apiKey = forwarded['x-api-key']
  if (apiKey !== null) headers['x-api-key'] = apiKey
}

/** The same for a flat list of names and values. Most are added in one call, since each call may grow the list. */
export function listHeaders(rawHeaders: string[], forwarded: ForwardedHeaders): void {
  rawHeaders.push(
    'x-request-id',
    forwarded['x-request-id'],
    'x-forwarded-host',
    forwarded['x-forwarded-host'],
    'x-forwarded-port',
    forwarded['x-forwarded-port'],
    'x-forwarded-proto',
    forwarded['x-forwarded-proto'],
    'x-forwarded-scheme',
    forwarded['x-forwarded-scheme'],
    'x-scheme',
    forwarded['x-scheme'],
  )
  const ip = forwarded['x-real-ip']
  if (ip !== null) rawHeaders.push('x-real-ip', ip)
  const chain = forwarded['x-forwarded-for']
  if (chain !== null) rawHeaders.push('x-forwarded-for', chain)
  const apiKey = forwarded['x-api-key']
  if (apiKey !== null) rawHeaders.push('x-api-key', apiKey)
}

/** The symbol under which a request of node counts the entries of `rawHeaders` that it reads. Other runtimes have none. */
const readKey =
  Object.getOwnPropertySymbols(new IncomingMessage(new Socket())).find(
    ({ description }) => description === 'kHeadersCount',
  ) ?? Symbol('no request has it')

/**
 * Removes from `rawHeaders` the headers that node does not read. Of very many headers (1,000, unless the server's
 * `maxHeadersCount` differs) it lists all but reads only the first ones into `headers`, where the guard looks. The rest is
 * never checked, but proxies forward it and other readers of the list would trust it.
 *
 * @returns whether there were any
 */
export function dropUnread(req: IncomingMessage): boolean {
  const read = isCounted(req) ? req[readKey] : null
  if (typeof read !== 'number' || read >= req.rawHeaders.length) return false
  req.rawHeaders.length = read
  return true
}

/** Counts everything in `rawHeaders` as read, because we have added the new entries ourselves. */
export function countAsRead(req: IncomingMessage): void {
  if (isCounted(req)) req[readKey] = req.rawHeaders.length
}

/** Whether node counts them. It is a predicate, because `Reflect` takes as long as all other writes to a request. */
function isCounted(req: object): req is Record<symbol, unknown> {
  return readKey in req
}
