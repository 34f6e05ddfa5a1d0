import type { ClientRequest, IncomingMessage } from 'node:http'
import { StringDecoder } from 'node:string_decoder'
import type { Fields } from '../../lib/json-fields.js'
import { isObject, parseJsonObject } from '../../lib/json-object.js'
import { ToolError, toToolError } from '../tool-error.js'
import { type Answer, TooSlow } from './exchange.js'
import { notOurs, refusalOf, refuse, unreachable } from './send.js'

/** Of a problem that refuses the request. */
const refusalBytes = 64 * 1024
/** Of one row: a log line of 16 KiB, with every character escaped. */
const rowBytes = 256 * 1024
/** Of one document: more than any host keeps. */
const documentBytes = 32 * 1024 * 1024
/** Written at once, which is also how often the progress is reported. */
const partBytes = 64 * 1024

export interface StreamOptions {
  method: 'GET' | 'POST' | 'DELETE'
  headers?: Readonly<Record<string, string>>
  /** The bytes to send. `open` is called again for a second attempt. */
  upload?: Buffer | StreamedUpload
  /** Sent as JSON instead. */
  body?: unknown
  /** Called as the bytes leave. */
  onSent?(bytes: number): void
  /** How long nothing may happen on the connection. Null: as long as it takes. */
  idleMs: number | null
  /** Of the whole answer. Null: it has no end, as a log that is followed. */
  mostBytes: number | null
}

export interface StreamedUpload {
  open(): AsyncIterable<Uint8Array>
  type: string
  /** Undefined: not known before its end. */
  size?: number
}

export interface StreamedAnswer {
  /**
   * Each row, up to and with the one that has a field of `last`.
   *
   * @throws {ToolError} what a row `{ error }` says; exit code 1 when the answer ends without its last row
   */
  rows(...last: readonly string[]): AsyncGenerator<Fields>
  /**
   * The lines of rows that may have any field, up to the last one, which is `{ end }` or `{ error }` by its place. It comes as
   * `onEnd`.
   *
   * @throws {ToolError} as `rows`
   */
  lines(onEnd: (end: Fields) => void): AsyncGenerator<string>
  /** Of the answer; null when it is absent. */
  header(name: string): string | null
  /** What arrives, as it is. @throws {ToolError} `answer_cut` */
  bytes(): AsyncGenerator<Uint8Array>
  /** Ends the connection. What the server has begun goes on. */
  close(): void
}

/**
 * Sends one request and reads its answer as it comes. It follows no redirect, and bounds every row.
 *
 * @throws {ToolError} what the server refused, or that it cannot be reached
 */
export async function openStream(url: string, options: StreamOptions): Promise<StreamedAnswer> {
  const site = new URL(url).origin
  const response = await begin(url, options).catch((error: unknown) => {
    throw error instanceof ToolError ? error : unreachable(site, error)
  })
  if (response.statusCode !== 200 && response.statusCode !== 201) await refuseAnswer(response, site)
  return {
    rows: (...last) => readRows(response, { site, last, mostBytes: options.mostBytes }),
    lines: (onEnd) => readLines(response, { site, onEnd }),
    header: (name) => headerOf(response, name),
    bytes: () => readBytes(response, site),
    close: () => void response.destroy(),
  }
}

async function begin(url: string, options: StreamOptions): Promise<IncomingMessage> {
  const { method, headers = {}, upload, body, onSent = () => {}, idleMs } = options
  const { request } = url.startsWith('https:') ? await import('node:https') : await import('node:http')
  const json = body === undefined ? null : Buffer.from(JSON.stringify(body))
  const accept = 'application/x-ndjson, application/problem+json'
  return new Promise((resolve, reject) => {
    const all = { accept, ...headersOf(upload, json), ...headers }
    const sent = request(url, { method, headers: all, agent: false }, resolve)
    sent.on('error', reject)
    if (idleMs !== null) sent.setTimeout(idleMs, () => sent.destroy(new TooSlow()))
    if (json !== null) sent.end(json)
    else if (upload === undefined) sent.end()
    else
      sendParts(sent, Buffer.isBuffer(upload) ? partsOf(upload) : upload.open(), onSent).catch((error: unknown) =>
        sent.destroy(toToolError(error)),
      )
  })
}

function headersOf(upload: StreamOptions['upload'], json: Buffer | null): Record<string, string | number> {
  if (json !== null) return { 'content-length': json.length, 'content-type': 'application/json' }
  if (upload === undefined) return {}
  if (Buffer.isBuffer(upload)) return { 'content-length': upload.length, 'content-type': 'application/gzip' }
  return { 'content-type': upload.type, ...(upload.size !== undefined && { 'content-length': upload.size }) }
}

async function* partsOf(bytes: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += partBytes) yield bytes.subarray(at, at + partBytes)
}

/** Each part waits for the one before, so the memory of the connection stays small and the progress is true. */
async function sendParts(
  sent: ClientRequest,
  parts: AsyncIterable<Uint8Array>,
  onSent: (bytes: number) => void,
): Promise<void> {
  let at = 0
  onSent(at)
  for await (const part of parts) {
    const isWritten = await new Promise<boolean>((resolve) => {
      sent.write(part, (error) => resolve(!error && !sent.destroyed))
    })
    // The answer, or the error of the request, says why.
    if (!isWritten) return
    at += part.length
    onSent(at)
  }
  sent.end()
}

/** An answer that is no stream. The server may have given it before all bytes were sent. */
async function refuseAnswer(response: IncomingMessage, site: string): Promise<never> {
  const status = response.statusCode ?? 0
  let text = ''
  try {
    for await (const chunk of response) {
      text += String(chunk)
      if (text.length > refusalBytes) break
    }
  } catch (error) {
    throw unreachable(site, error)
  } finally {
    response.destroy()
  }
  const header: Answer['header'] = (name) => headerOf(response, name)
  refuse({ status, header, text }, site)
  throw notOurs(site, `status ${status}`)
}

function headerOf({ headers }: IncomingMessage, name: string): string | null {
  const value = headers[name]
  return typeof value === 'string' ? value : null
}

interface Reading {
  site: string
  last: readonly string[]
  mostBytes: number | null
}

async function* readRows(response: IncomingMessage, { site, last, mostBytes }: Reading): AsyncGenerator<Fields> {
  try {
    for await (const line of linesOf(response, { site, mostBytes })) {
      const row = parseJsonObject(line)
      if (row === null) throw notOurs(site, 'a row that is no JSON object')
      if (row.error !== undefined) throw faultOf(row.error, site)
      yield row
      if (last.some((name) => row[name] !== undefined)) return
    }
  } catch (error) {
    throw error instanceof ToolError ? error : cutOff(site)
  } finally {
    response.destroy()
  }
  throw cutOff(site)
}

/** Holds one line back: only the last one of the whole answer may say how it ended. */
async function* readLines(
  response: IncomingMessage,
  { site, onEnd }: { site: string; onEnd: (end: Fields) => void },
): AsyncGenerator<string> {
  let held: string | null = null
  try {
    for await (const line of linesOf(response, { site, mostBytes: null, longest: documentBytes })) {
      if (held !== null) yield held
      held = line
    }
  } catch (error) {
    throw error instanceof ToolError ? error : cutOff(site)
  } finally {
    response.destroy()
  }
  const end = held === null ? null : parseJsonObject(held)
  if (end !== null && isObject(end.error) && Object.keys(end).length === 1) throw faultOf(end.error, site)
  if (end === null || !isObject(end.end) || Object.keys(end).length > 1) throw cutOff(site)
  onEnd(end.end)
}

async function* readBytes(response: IncomingMessage, site: string): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of response) yield Buffer.from(chunk)
  } catch {
    throw cutOff(site)
  } finally {
    response.destroy()
  }
}

/** The server sends empty lines to keep the connection open. A last line without its line break was cut off, and is left out. */
async function* linesOf(
  response: IncomingMessage,
  { site, mostBytes, longest = rowBytes }: Pick<Reading, 'site' | 'mostBytes'> & { longest?: number },
): AsyncGenerator<string> {
  const decoder = new StringDecoder('utf8')
  let rest = ''
  let size = 0
  for await (const chunk of response) {
    const bytes = Buffer.from(chunk)
    size += bytes.length
    if (mostBytes !== null && size > mostBytes) throw notOurs(site, `more than ${mostBytes / 1024 / 1024} MiB`)
    const lines = (rest + decoder.write(bytes)).split('\n')
    rest = lines.pop() ?? ''
    if ([rest, ...lines].some((line) => line.length > longest)) throw notOurs(site, 'a row without end')
    for (const line of lines) if (line.trim() !== '') yield line
  }
}

function faultOf(problem: unknown, site: string): ToolError {
  if (!isObject(problem) || typeof problem.code !== 'string' || typeof problem.status !== 'number') {
    return notOurs(site, 'an error that is no problem')
  }
  return refusalOf(problem.status, problem.code, problem, null)
}

/** Proxies cut streams, so only the last row says that everything was done. */
function cutOff(site: string): ToolError {
  return new ToolError(1, 'answer_cut', `The answer of ${site} ended before it was whole.`)
}
