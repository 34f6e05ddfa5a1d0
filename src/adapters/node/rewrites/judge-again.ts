import type { ServerResponse } from 'node:http'
import { type HttpRequest, isSafeMethod, type RequestHeaders } from '../../../http/message.js'
import type { Pass, Verdict } from '../../../http/verdict.js'
import { takeApiKey } from '../../../lib/api-key-query.js'
import { decide } from '../../adapter.js'
import { answer } from '../answer.js'
import { dropUnread } from '../headers.js'
import { passOn } from '../listener.js'
import { NodeMessage, pathOf } from '../message.js'
import { innermost, type Judged, type JudgedRequest, mountedOf } from './judged.js'

/** Runs the next layer after every guard around it has judged the current request. Synchronous like the guards. */
export function whenJudged(req: JudgedRequest, res: ServerResponse, run: () => void): void {
  const outdated = outdatedOf(req)
  if (outdated === undefined) return void run()
  const message = messageAsArrived(outdated, req, res)
  const path = pathBelow(outdated, req)
  settle(outdated, message, (verdict) => {
    if (verdict.kind === 'answer') return answer(req, res, verdict.response)
    // Without a principal, the request is prepared only on entering the public part of the API.
    const isNew = verdict.principal !== null || (verdict.forwarded !== null && outdated.pass.forwarded === null)
    outdated.path = path
    outdated.method = message.method
    outdated.url = undefined
    outdated.pass = verdict
    if (!isNew || present(outdated, req, res, verdict)) whenJudged(req, res, run)
  })
}

export function present(judged: Judged, req: JudgedRequest, res: ServerResponse, pass: Pass): boolean {
  if (pass.spoofedHeaders.length > 0) judged.rawHeaders ??= [...req.rawHeaders]
  return passOn(req, res, pass)
}

export function settle({ handle }: Judged, message: HttpRequest, carryOut: (verdict: Verdict) => void): void {
  const verdict = decide(handle, message, null)
  if ('then' in verdict) void verdict.then(carryOut)
  else carryOut(verdict)
}

/**
 * The request with its current path and method, and with the headers that the client sent. Since then we have written some
 * headers, and the application may have written credentials.
 */
function messageAsArrived(judged: Judged, req: JudgedRequest, res: ServerResponse): HttpRequest {
  // The framework has prepared the request by now.
  const now = new NodeMessage(req, res, () => {})
  dropUnread(req)
  const rawHeaders = rawHeadersOf(judged) ?? req.rawHeaders
  return Object.create(now, {
    // Empty: the host makes the path ambiguous, so no path can be judged.
    path: { value: now.path === '' ? '' : pathBelow(judged, req) },
    query: { value: queryOf(now, judged.arrived) },
    mount: { value: judged.arrived.mount },
    headers: { value: rawHeaders.length === 0 ? req.headers : headersOf(rawHeaders) },
    rawHeaders: { value: rawHeaders },
  })
}

/** The raw headers as the outermost guard got them, which was the first to remove some. */
function rawHeadersOf(judged: Judged): readonly string[] | null {
  return (judged.outer && rawHeadersOf(judged.outer)) ?? judged.rawHeaders
}

/** An API token in the URL counts, even if it was removed on a public route. */
function queryOf(now: HttpRequest, arrived: HttpRequest): string {
  const key = takeApiKey(now.query) === null ? takeApiKey(arrived.query) : null
  if (key === null) return now.query
  const pairs = key.values.map((value) => (value === null ? 'apikey[]' : `apikey=${encodeURIComponent(value)}`))
  return [now.query, ...pairs].filter((pair) => pair !== '').join('&')
}

/** Joins repeated headers as node does (RFC 9110 §5.3, RFC 9113 §8.2.3). Repeated credentials never count. */
function headersOf(rawHeaders: readonly string[]): RequestHeaders {
  const headers: Record<string, string> = Object.create(null)
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] ?? '').toLowerCase()
    const value = rawHeaders[index + 1] ?? ''
    const before = headers[name]
    headers[name] = before === undefined ? value : `${before}${name === 'cookie' ? ';' : ','} ${value}`
  }
  return headers
}

/**
 * The guard that must judge again: a read became a write, or the path is not the judged one any more. A principal stays valid
 * for every path, unless a hook of the application decides by path. Every layer of every request asks this. Most requests
 * have a principal and no hook, and then it takes two comparisons.
 */
export function outdatedOf(req: JudgedRequest): Judged | undefined {
  let judged = innermost(req)
  while (judged !== undefined && !isOutdated(judged, req)) judged = judged.outer
  return judged
}

function isOutdated(judged: Judged, req: JudgedRequest): boolean {
  if (judged.pass.principal !== null) {
    if (req.method !== judged.method && isSafeMethod(judged.method) && !isSafeMethod(req.method ?? 'GET')) return true
    if (!judged.hooked) return false
  }
  if (req.url === judged.url && mountedOf(req) === judged.entry) return false
  const path = pathBelow(judged, req)
  return path !== judged.path && !(isMountRoot(req) && judged.path === `${path}/`)
}

/** A handler mounted at the whole path sees `/`, with and without a slash at the end: one path for its routes. */
function isMountRoot(req: JudgedRequest): boolean {
  return pathOf(req.url ?? '/') === '/'
}

/** The path as the guard's application sees it, whatever prefix routers have removed since. */
function pathBelow({ entry }: Judged, req: JudgedRequest): string {
  const mounted = mountedOf(req)
  const below = mounted.startsWith(entry) ? mounted.slice(entry.length) : mounted
  return below !== '' && isMountRoot(req) ? below : below + pathOf(req.url ?? '/')
}
