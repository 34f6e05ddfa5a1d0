import type { ClientRequest, IncomingMessage } from 'node:http'
import { StringDecoder } from 'node:string_decoder'
import type { Fields } from '../../lib/json-fields.js'
import { isObject, parseJsonObject } from '../../lib/json-object.js'
import { ToolError } from '../tool-error.js'
import { type Answer, TooSlow } from './exchange.js'
import { notOurs, refusalOf, refuse, unreachable } from './send.js'

/** Of a problem that refuses the request. */
const refusalBytes = 64 * 1024
/** Of one row: a log line of 16 KiB, with every character escaped. */
const rowBytes = 256 * 1024
/** Written at once, which is also how often the progress is reported. */
const partBytes = 64 * 1024

export interface StreamOptions {
  method: 'GET' | 'POST'
  headers?: Readonly<Record<string, string>>
  /** The bytes to send. */
  upload?: Buffer
  /** Called as the bytes leave. */
  onSent?(bytes: number): void
  /** How long nothing may happen on the connection. Null: as long as it takes. */
  idleMs: number | null
  /** Of the whole answer. Null: it has no end, as a log that is followed. */
  mostBytes: number | null
}

export interface StreamedAnswer {
  /**
   * Each row, up to and with the one that has the field `last`.
   *
   * @throws {ToolError} what a row `{ error }` says; exit code 1 when the answer ends without its last row
   */
  rows(last: string): AsyncGenerator<Fields>
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
    throw unreachable(site, error)
  })
  if (response.statusCode !== 200 && response.statusCode !== 201) await refuseAnswer(response, site)
  return {
    rows: (last) => readRows(response, { site, last, mostBytes: options.mostBytes }),
    close: () => void response.destroy(),
  }
}

async function begin(url: string, options: StreamOptions): Promise<IncomingMessage> {
  const { method, headers = {}, upload, onSent = () => {}, idleMs } = options
  const { request } = url.startsWith('https:') ? await import('node:https') : await import('node:http')
  const length = upload ? { 'content-length': String(upload.length), 'content-type': 'application/gzip' } : {}
  const accept = 'application/x-ndjson, application/problem+json'
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers: { accept, ...length, ...headers }, agent: false }, resolve)
    sent.on('error', reject)
    if (idleMs !== null) sent.setTimeout(idleMs, () => sent.destroy(new TooSlow()))
    if (upload) sendParts(sent, upload, onSent)
    else sent.end()
  })
}

/** Each part waits for the one before, so the memory of the connection stays small and the progress is true. */
function sendParts(sent: ClientRequest, bytes: Buffer, onSent: (bytes: number) => void): void {
  let at = 0
  const next = (error?: Error | null) => {
    if (error || sent.destroyed) return
    onSent(at)
    const part = bytes.subarray(at, at + partBytes)
    at += part.length
    if (part.length === 0) sent.end()
    else sent.write(part, next)
  }
  next()
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
  const header: Answer['header'] = (name) => {
    const value = response.headers[name]
    return typeof value === 'string' ? value : null
  }
  refuse({ status, header, text }, site)
  throw notOurs(site, `status ${status}`)
}

interface Reading {
  site: string
  last: string
  mostBytes: number | null
}

async function* readRows(response: IncomingMessage, { site, last, mostBytes }: Reading): AsyncGenerator<Fields> {
  try {
    for await (const line of linesOf(response, { site, mostBytes })) {
      const row = parseJsonObject(line)
      if (row === null) throw notOurs(site, 'a row that is no JSON object')
      if (row.error !== undefined) throw faultOf(row.error, site)
      yield row
      if (row[last] !== undefined) return
    }
  } catch (error) {
    throw error instanceof ToolError ? error : cutOff(site)
  } finally {
    response.destroy()
  }
  throw cutOff(site)
}

/** The server sends empty lines to keep the connection open. A last line without its line break was cut off, and is left out. */
async function* linesOf(
  response: IncomingMessage,
  { site, mostBytes }: Pick<Reading, 'site' | 'mostBytes'>,
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
    if ([rest, ...lines].some((line) => line.length > rowBytes)) throw notOurs(site, 'a row without end')
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
