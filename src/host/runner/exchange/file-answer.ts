import { closeSync, createReadStream, openSync, readSync } from 'node:fs'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream'
import { trimBlanks } from '../../../lib/http-blanks.js'
import type { ReleaseFiles, SourceFile } from '../files.js'

/**
 * Holds an answer back as long as it is nothing but the beginning of one file of the release. A whole file is then sent with
 * its length, an entity tag and ranges, and no faster than the client reads it: codehooks-js writes a file without waiting.
 */
export interface FileAnswer {
  /** Whether the chunk goes on with the file. It is held then, and the caller writes nothing. */
  takes(chunk: unknown): boolean
  /** Writes what is held. The answer is no file any more. */
  giveUp(): void
  /** Sends the whole file. Returns false when the answer is no file. */
  send(): boolean
  isSent(): boolean
}

export interface FileRequest {
  method: string
  headers: IncomingHttpHeaders
}

export function holdFile(
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
