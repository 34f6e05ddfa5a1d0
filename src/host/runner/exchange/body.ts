import type { IncomingMessage } from 'node:http'
import { trimBlanks } from '../../../lib/http-blanks.js'
import { isWithinBounds } from '../../documents/bounded-json.js'
import { readPairs } from './query.js'

/** What the application finds as `req.body` and `req.rawBody`. */
export interface ParsedBody {
  body: unknown
  /** The text as it was sent, for signatures of webhooks. */
  rawBody: string
}

/** Why a body could not be parsed. */
export type BodyFault = 'payload_too_large' | 'invalid_request'

/** A field takes many times its bytes in memory, and the body is parsed before any auth hook runs. */
const maxFormFields = 10_000
/** 10 MiB of `{},{}…` would take 230 MB of heap, almost all of a child. Within this bound the worst body takes 45 MB. */
const jsonBounds = { depth: Number.POSITIVE_INFINITY, parts: 250_000 }

/**
 * Reads and parses JSON and forms. null for other types and for compressed bodies, which stay streams.
 */
export async function readBody(raw: IncomingMessage, limitBytes: number): Promise<ParsedBody | BodyFault | null> {
  const kind = kindOf(raw)
  if (kind === null) return null
  if (Number(raw.headers['content-length'] ?? 0) > limitBytes) return 'payload_too_large'
  const text = await readText(raw, limitBytes)
  if (text === null) return 'payload_too_large'
  if (kind === 'form') return readForm(text)
  if (text.trim() === '') return { body: {}, rawBody: text }
  if (!isWithinBounds(text, jsonBounds)) return 'payload_too_large'
  try {
    return { body: JSON.parse(text), rawBody: text }
  } catch {
    return 'invalid_request'
  }
}

function readForm(text: string): ParsedBody | BodyFault {
  const fields = text.split('&', maxFormFields + 1).length
  return fields > maxFormFields ? 'payload_too_large' : { body: readPairs(text), rawBody: text }
}

function kindOf({ headers }: IncomingMessage): 'json' | 'form' | null {
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = headers
  if (trimBlanks(encoding).toLowerCase() !== 'identity') return null
  const [text = ''] = type.toLowerCase().split(';')
  const name = trimBlanks(text)
  if (/^application\/(?:[\w.+-]+\+)?json$/.test(name)) return 'json'
  return name === 'application/x-www-form-urlencoded' ? 'form' : null
}

async function readText(raw: IncomingMessage, limitBytes: number): Promise<string | null> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of raw) {
    if (!Buffer.isBuffer(chunk)) continue
    bytes += chunk.length
    if (bytes > limitBytes) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}
