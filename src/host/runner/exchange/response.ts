import { closeSync, createReadStream, openSync, readSync } from 'node:fs'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream'
import { trimBlanks } from '../../../lib/http-blanks.js'
import type { ReleaseFiles, SourceFile } from '../files.js'

type Value = string | number | readonly string[]

/** The `res` of codehooks-js. Every call after the end of the answer does nothing, as on the platform. */
export interface AppResponse {
  status(code: number): AppResponse
  set(name: string, value: Value): AppResponse
  setHeader(name: string, value: Value): AppResponse
  headers(values: Readonly<Record<string, Value>>): AppResponse
  removeHeader(name: string): AppResponse
  write(data: unknown, type?: string): AppResponse
  end(data?: unknown): void
  send(data?: unknown): void
  json(value: unknown): void
  redirect(...target: readonly [number, string] | readonly [string]): void
  /** Renders a view with the engine of `app.set('view engine', …)`. */
  render(view: string, values?: unknown): void
  /** To pipe a stream into. */
  readonly writable: ServerResponse
}

/** How `app.render` of codehooks-js gives its result. */
export type Render = (view: string, values: unknown, done: (error: unknown, html?: unknown) => void) => unknown

interface ResponseOptions {
  request: FileRequest
  originOf: ReleaseFiles['originOf']
  /** null for an application without views. */
  render: Render | null
  /** Headers that the application cannot change. */
  fixed: ReadonlySet<string>
  onFault(error: unknown): void
}

export function createResponse(out: ServerResponse, options: ResponseOptions): AppResponse {
  const { render, fixed, onFault } = options
  const file = holdFile(out, options.request, options.originOf)
  const open = () => !file.isSent() && !out.writableEnded && !out.destroyed
  const set = (name: string, value: Value) => {
    if (open() && !fixed.has(name.toLowerCase())) out.setHeader(name, value)
    return res
  }
  const res: AppResponse = {
    status(code) {
      if (!Number.isInteger(code) || code < 200 || code > 599) throw new RangeError(`${code} is no HTTP status.`)
      if (open()) out.statusCode = code
      return res
    },
    set,
    setHeader: set,
    headers(values) {
      for (const [name, value] of Object.entries(values)) set(name, value)
      return res
    },
    removeHeader(name) {
      if (open() && !fixed.has(name.toLowerCase())) out.removeHeader(name)
      return res
    },
    write(data) {
      if (!open() || data === undefined || data === null || file.takes(data)) return res
      file.giveUp()
      out.write(toChunk(data, out))
      return res
    },
    end(data) {
      if (!open()) return
      const isWritten = data === undefined || data === null || file.takes(data)
      if (isWritten && file.send()) return
      file.giveUp()
      if (isWritten) out.end()
      else out.end(toChunk(data, out))
    },
    send: (data) => res.end(data),
    json(value) {
      if (!open()) return
      file.giveUp()
      const text = JSON.stringify(value) ?? 'null'
      if (!out.headersSent && !out.hasHeader('content-type')) out.setHeader('content-type', 'application/json')
      out.end(text)
    },
    redirect(...target) {
      if (!open()) return
      file.giveUp()
      const [code, url] = target.length === 2 ? target : ([302, target[0]] as const)
      out.writeHead(code, { location: url }).end()
    },
    render: (view, values) => renderView(res, render, view, values, onFault),
    get writable() {
      file.giveUp()
      return out
    },
  }
  return res
}

/** Text and bytes as they are; an error as its message, which `JSON.stringify` would drop; everything else as JSON. */
function toChunk(data: unknown, out: ServerResponse): string | Uint8Array {
  if (typeof data === 'string' || data instanceof Uint8Array) return data
  if (typeof data !== 'object') return String(data)
  if (!out.headersSent && !out.hasHeader('content-type')) out.setHeader('content-type', 'application/json')
  return JSON.stringify(data instanceof Error ? { error: data.message, ...data } : data)
}

function renderView(
  res: AppResponse,
  render: Render | null,
  view: string,
  values: unknown,
  onFault: (error: unknown) => void,
): void {
  const done = (error: unknown, html?: unknown): void => {
    if (!error) return void res.set('content-type', 'text/html; charset=utf-8').end(html)
    onFault(error)
    res.status(500).end('The view cannot be rendered.')
  }
  if (render === null) return void done(new Error('The application has no view engine.'))
  // A view engine may throw at once, reject later, or call back with the fault.
  Promise.resolve()
    .then(() => render(view, values, done))
    .catch(done)
}

/**
 * Holds an answer back as long as it is nothing but the beginning of one file of the release. A whole file is then sent with
 * its length, an entity tag and ranges, and no faster than the client reads it: codehooks-js writes a file without waiting.
 */
interface FileAnswer {
  /** Whether the chunk goes on with the file. It is held then, and the caller writes nothing. */
  takes(chunk: unknown): boolean
  /** Writes what is held. The answer is no file any more. */
  giveUp(): void
  /** Sends the whole file. Returns false when the answer is no file. */
  send(): boolean
  isSent(): boolean
}

interface FileRequest {
  method: string
  headers: IncomingHttpHeaders
}

function holdFile(
  out: ServerResponse,
  { method, headers }: FileRequest,
  originOf: ReleaseFiles['originOf'],
): FileAnswer {
  let held: { file: SourceFile; bytes: number } | null = null
  let mayHold = true
  let isSent = false

  function giveUp(): void {
    mayHold = false
    if (held) writeBeginning(out, held.file.path, held.bytes)
    held = null
  }

  return {
    takes(chunk) {
      const origin = mayHold && !out.headersSent ? originOf(chunk) : null
      if (origin === null || !(chunk instanceof Uint8Array)) return false
      const { file, at } = origin
      if (at !== (held?.bytes ?? 0) || file !== (held?.file ?? file)) return false
      held = { file, bytes: at + chunk.length }
      return true
    },
    giveUp,
    send() {
      if (held === null || held.bytes !== held.file.bytes) {
        giveUp()
        return false
      }
      isSent = true
      sendFile(out, held.file, { method, headers })
      return true
    },
    isSent: () => isSent,
  }
}

/** At once, because the application goes on writing. */
function writeBeginning(out: ServerResponse, path: string, bytes: number): void {
  const file = openSync(path, 'r')
  try {
    for (let at = 0; at < bytes; ) {
      const chunk = Buffer.alloc(Math.min(64 * 1024, bytes - at))
      const read = readSync(file, chunk, 0, chunk.length, at)
      if (read === 0) return
      out.write(chunk.subarray(0, read))
      at += read
    }
  } finally {
    closeSync(file)
  }
}

function sendFile(out: ServerResponse, file: SourceFile, { method, headers }: FileRequest): void {
  out.removeHeader('transfer-encoding')
  let range: ByteRange | null = { first: 0, last: file.bytes - 1 }
  if (out.statusCode === 200 && (method === 'GET' || method === 'HEAD')) {
    if (!out.hasHeader('etag')) out.setHeader('etag', `"${file.sha256.slice(0, 32)}"`)
    out.setHeader('accept-ranges', 'bytes')
    const tag = String(out.getHeader('etag'))
    if (isKnown(headers['if-none-match'], tag)) {
      sendNotModified(out)
      return
    }
    const asked = method === 'GET' && isCurrent(headers['if-range']?.toString(), tag) ? headers.range : undefined
    range = asked === undefined ? range : rangeOf(asked, file.bytes)
    if (range === null) {
      sendUnsatisfiable(out, file.bytes)
      return
    }
    if (range.last - range.first + 1 < file.bytes) {
      out.statusCode = 206
      out.setHeader('content-range', `bytes ${range.first}-${range.last}/${file.bytes}`)
    }
  }
  out.setHeader('content-length', range.last - range.first + 1)
  if (method === 'HEAD') return void out.end()
  // A client that leaves ends the pipeline with an error, and its connection is gone then.
  pipeline(createReadStream(file.path, { start: range.first, end: range.last }), out, () => {})
}

function sendNotModified(out: ServerResponse): void {
  out.removeHeader('content-type')
  out.removeHeader('content-length')
  out.writeHead(304).end()
}

function sendUnsatisfiable(out: ServerResponse, bytes: number): void {
  for (const name of ['content-type', 'etag', 'cache-control']) out.removeHeader(name)
  out.writeHead(416, { 'content-range': `bytes */${bytes}`, 'content-length': 0 }).end()
}

const withoutWeakness = (tag: string) => trimBlanks(tag).replace(/^W\//, '')

/** RFC 9110 §13.1.2: weak comparison. */
function isKnown(sent: string | undefined, tag: string): boolean {
  if (sent === undefined) return false
  return trimBlanks(sent) === '*' || sent.split(',').some((each) => withoutWeakness(each) === withoutWeakness(tag))
}

/** RFC 9110 §13.1.5: strong comparison. A date never matches, because files of a release have none. */
function isCurrent(ifRange: string | undefined, tag: string): boolean {
  return ifRange === undefined || (trimBlanks(ifRange) === tag && !tag.startsWith('W/'))
}

interface ByteRange {
  first: number
  last: number
}

/** RFC 9110 §14.2. The whole file for what is no single range of bytes; null for one that lies outside of the file. */
function rangeOf(text: string, bytes: number): ByteRange | null {
  const whole = { first: 0, last: bytes - 1 }
  const [, from = '', to = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/i.exec(text.replaceAll(/[ \t]/g, '')) ?? []
  if (from === '' && to === '') return whole
  if (from === '') return Number(to) === 0 ? null : { first: Math.max(0, bytes - Number(to)), last: bytes - 1 }
  if (to !== '' && Number(to) < Number(from)) return whole
  if (Number(from) >= bytes) return null
  return { first: Number(from), last: to === '' ? bytes - 1 : Math.min(Number(to), bytes - 1) }
}
