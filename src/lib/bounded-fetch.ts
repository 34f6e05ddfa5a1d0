import type { IncomingMessage } from 'node:http'
import type { LookupFunction } from 'node:net'
import type { World } from './runtime.js'

export interface BoundedRequest {
  url: string
  headers: Readonly<Record<string, string>>
  /** When given, the request is a POST of this text. The caller sets its `Content-Type` in the headers. */
  body?: string
  /** The time limit for connecting, waiting and reading together. */
  limitMs: number
  limitBytes: number
}

/** Why there is no answer. */
export type FetchFaultReason = 'unreachable' | 'too_slow' | 'bad_status' | 'redirected' | 'too_big' | 'private_address'

/** The server gave no usable answer. The error names the kind of fault and nothing of the request. */
export class FetchFault extends Error {
  readonly reason: FetchFaultReason

  constructor(reason: FetchFaultReason) {
    super(reason)
    this.name = 'FetchFault'
    this.reason = reason
  }
}

export interface BoundedAnswer {
  status: number
  headers: Response['headers']
  text: string
}

/**
 * Like `fetchAnswer`, but any status other than 200 is a fault.
 *
 * @throws {FetchFault}
 */
export async function fetchText(world: Pick<World, 'fetch' | 'timer'>, request: BoundedRequest): Promise<string> {
  return (await fetchAnswer(world, { ...request, readable: [200] })).text
}

/**
 * Gets a text from another party's server, which may be down, slow or hostile. One time limit covers the whole exchange,
 * and a limit counts the bytes after decompression. Only a status in `readable` has its body read; any other status is a
 * fault. Redirects are not followed, so the server cannot send the request elsewhere (ASVS 5.0, 15.2.2 and 15.3.2).
 *
 * @throws {FetchFault}
 */
export async function fetchAnswer(
  world: Pick<World, 'fetch' | 'timer'>,
  request: BoundedRequest & { readable: readonly number[] },
): Promise<BoundedAnswer> {
  const abort = new AbortController()
  let cancel = () => {}
  const tooSlow = new Promise<never>((_resolve, reject) => {
    cancel = world.timer(request.limitMs, () => reject(new FetchFault('too_slow')))
  })
  try {
    // The fetch of some hosts ignores the signal, so a timer enforces the limit.
    return await Promise.race([readAnswer(world.fetch, request, abort.signal), tooSlow])
  } finally {
    cancel()
    abort.abort() // what is left of the connection
  }
}

async function readAnswer(
  fetch: World['fetch'],
  request: BoundedRequest & { readable: readonly number[] },
  signal: AbortSignal,
): Promise<BoundedAnswer> {
  const { url, headers, body } = request
  try {
    const sent = body === undefined ? {} : { method: 'POST', body }
    const answer = await fetch(url, { ...sent, headers, redirect: 'manual', signal })
    if (!request.readable.includes(answer.status))
      throw new FetchFault(isRedirect(answer) ? 'redirected' : 'bad_status')
    return { status: answer.status, headers: answer.headers, text: await readBody(answer.body, request.limitBytes) }
  } catch (error) {
    // An error of fetch may quote the URL. Only the caller may reveal that.
    throw error instanceof FetchFault ? error : new FetchFault('unreachable')
  }
}

/** Some hosts show a redirect that was not followed as a response of type `opaqueredirect`, with status 0. */
function isRedirect({ status, type }: Response): boolean {
  return (status >= 300 && status < 400) || type === 'opaqueredirect'
}

async function readBody(body: Response['body'], limitBytes: number): Promise<string> {
  if (body === null) return ''
  const reader = body.getReader()
  const chunks: Uint8Array[] = []
  let size = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return Buffer.concat(chunks).toString()
    size += value.byteLength
    if (size > limitBytes) throw new FetchFault('too_big')
    chunks.push(value)
  }
}

export interface NodeRequest {
  method: string
  url: string
  headers: Readonly<Record<string, string>>
  body: string | null
  signal: AbortSignal
  /** How the name of the host is resolved. Default: as the machine does. */
  lookup?: LookupFunction
}

/**
 * Sends a request by `node:http`, which follows no redirect and decompresses nothing. Each request has its own connection:
 * a kept one could belong to another address, or be closed by the server just then.
 *
 * @throws what the connection throws
 */
export async function sendByNode(asked: NodeRequest): Promise<IncomingMessage> {
  const { method, url, headers, body, signal, lookup } = asked
  const { request } = url.startsWith('https:') ? await import('node:https') : await import('node:http')
  const length = body === null ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  const options = { method, headers: { ...headers, ...length }, signal, agent: false, ...(lookup && { lookup }) }
  return new Promise((resolve, reject) => {
    const sent = request(url, options, resolve)
    sent.on('error', reject)
    sent.end(body ?? undefined)
  })
}
