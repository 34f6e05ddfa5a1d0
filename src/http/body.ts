import { AuthError, invalidField } from '../errors.js'
import { parseJson } from '../lib/json-object.js'
import { type HttpRequest, type RequestBody, singleHeader } from './message.js'

/** The parsed body of a request. */
export interface Body {
  /** Has no prototype, so a field named `constructor` is an ordinary field. */
  value: Readonly<Record<string, unknown>>
  /** The body was a form, so the response is a redirect. */
  form: boolean
  /** `_method` of a form, since forms can only POST. */
  method: 'PATCH' | 'DELETE' | null
  /** `_redirect` of a form, as sent: not checked yet. */
  redirect: string | null
  /** The body had a key named `__proto__`, which `value` leaves out. */
  lostKeys?: true
}

export const bodyLimitBytes = 64 * 1024

/** Fields that only forms have. */
const plain = { form: false, method: null, redirect: null } as const

/** Our own bodies are flat. Custom fields of the application may be nested a little deeper. */
export const deepestBody = 32

/** Fields of a form or members of a JSON object, and values of a body in all: no body of ours needs more. */
export const mostFields = 200
export const mostValues = 1_000

/**
 * Reads the body as one object, from JSON or a form: an object at the top, strict UTF-8, at most 64 KiB. An empty body is
 * `{}`. The body of GET and HEAD is ignored.
 *
 * The last of repeated JSON keys counts, as in `JSON.parse`. That is safe: nothing reads the body before us, so no check
 * used the first. A repeated form field is refused. Keys named `__proto__` are dropped.
 *
 * A body that the application's parser has already read (an object, a string or bytes) goes through the same checks.
 *
 * @throws {AuthError} `invalid_request`, `payload_too_large`, `unsupported_media_type`
 */
export async function readBody(request: HttpRequest): Promise<Body> {
  if (request.method === 'GET' || request.method === 'HEAD') return { value: empty(), ...plain }
  const type = mediaTypeOf(request)
  refuseByHeaders(request)

  const content = await contentOf(request.body)
  if (type === null) {
    if (!isEmpty(content)) throw new AuthError('unsupported_media_type')
    return { value: empty(), ...plain }
  }
  return type === 'form' ? formBody(content) : { ...jsonObject(content), ...plain }
}

/**
 * Stands for the body of a route that reads it piece by piece. Forms are refused: any web page can send one.
 *
 * @throws {AuthError} `unsupported_media_type`
 */
export function unreadBody(request: HttpRequest): Body {
  refuseEncoded(request)
  const type = String(request.headers['content-type'] ?? '')
  if (/^[ \t]*(?:application\/x-www-form-urlencoded|multipart\/|text\/plain)/i.test(type)) {
    throw new AuthError('unsupported_media_type')
  }
  return { value: empty(), ...plain }
}

/** Compressed bodies are refused: their real size shows only after decompression (CWE-409). */
function refuseEncoded(request: HttpRequest): void {
  const encoding = request.headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity') throw new AuthError('unsupported_media_type')
}

function refuseByHeaders(request: HttpRequest): void {
  refuseEncoded(request)
  const length = request.headers['content-length']
  if (length === undefined) return
  if (typeof length !== 'string' || !/^\d+$/.test(length)) throw malformed('The length is not a number.')
  if (Number(length) > bodyLimitBytes) throw new AuthError('payload_too_large')
}

/** null: no content type was sent. A form or JSON in another charset than UTF-8 counts as neither. */
function mediaTypeOf(request: HttpRequest): 'json' | 'form' | null {
  if (request.headers['content-type'] === undefined) return null
  const [type = '', ...parameters] = (singleHeader(request, 'content-type') ?? '').split(';')

  const charsets = parameters.filter((parameter) => /^[ \t]*charset[ \t]*=/i.test(parameter))
  const inUtf8 = charsets.every((charset) => /=[ \t]*(?:utf-?8|"utf-?8")[ \t]*$/i.test(charset))
  if (inUtf8 && /^[ \t]*application\/json[ \t]*$/i.test(type)) return 'json'
  if (inUtf8 && /^[ \t]*application\/x-www-form-urlencoded[ \t]*$/i.test(type)) return 'form'
  throw new AuthError('unsupported_media_type')
}

/** The text of the body, or the value that the application's parser left. */
async function contentOf(body: RequestBody): Promise<unknown> {
  if (body.kind === 'parsed') {
    if (body.value instanceof Uint8Array) return decode(body.value)
    if (typeof body.value === 'string') return decode(Buffer.from(body.value))
    return body.value ?? ''
  }
  const bytes = await body.read(bodyLimitBytes)
  if (bytes === null) throw new AuthError('payload_too_large')
  return decode(bytes)
}

function decode(bytes: Uint8Array): string {
  if (bytes.length > bodyLimitBytes) throw new AuthError('payload_too_large')
  const text = decodeUtf8(bytes)
  // RFC 8259 §8.1: no byte order mark. In a form it would become part of the first field name.
  if (text.startsWith('\ufeff')) throw malformed('The body begins with a byte order mark.')
  return text
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw malformed('The body is not UTF-8.')
  }
}

/** Parsers leave `{}` for a request without a body. */
function isEmpty(content: unknown): boolean {
  return content === '' || (isPlainObject(content) && Object.keys(content).length === 0)
}

function jsonObject(content: unknown): Pick<Body, 'value' | 'lostKeys'> {
  if (isEmpty(content)) return { value: empty() }
  const parsed = typeof content === 'string' ? readJson(content) : content
  if (!isPlainObject(parsed)) throw malformed('The body is not an object.')

  const copying: Copying = { left: mostValues, lostKeys: false }
  const value = copyObject(parsed, 1, copying)
  // Already parsed and perhaps sent in chunks, so the size is known only now.
  if (typeof content !== 'string') refuseLarge(value)
  return copying.lostKeys ? { value, lostKeys: true } : { value }
}

function readJson(text: string): unknown {
  requireSmall(text)
  const value = parseJson(text)
  if (value === undefined) throw malformed('The body is not JSON.')
  return value
}

/** Counts brackets and commas outside of strings before anything is built of them. Their order is left to the parser. */
function requireSmall(text: string): void {
  let depth = 0
  let commas = 0
  let inString = false
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]
    if (inString && character === '\\') at += 1
    else if (character === '"') inString = !inString
    else if (!inString && (character === '{' || character === '[')) depth += 1
    else if (!inString && (character === '}' || character === ']')) depth -= 1
    else if (!inString && character === ',') commas += 1
    if (depth > deepestBody) throw malformed('The body is nested too deeply.')
    if (commas >= mostValues) throw malformed(tooManyFields)
  }
}

function formBody(content: unknown): Body {
  const fields = typeof content === 'string' ? parseForm(content) : parsedForm(content)
  const { _method: asked, _redirect: returnTo, ...rest } = fields
  if (asked !== undefined && asked !== 'PATCH' && asked !== 'DELETE') throw malformed('_method is PATCH or DELETE.')
  return { value: Object.assign(empty(), rest), form: true, method: asked ?? null, redirect: returnTo ?? null }
}

/** Strict application/x-www-form-urlencoded: a broken escape or a repeated name is refused. */
function parseForm(text: string): Record<string, string> {
  const fields: Record<string, string> = Object.create(null)
  // One more piece than asked for tells that there are too many.
  const pairs = text.split('&', mostFields + 1)
  if (pairs.length > mostFields) throw malformed(tooManyFields)
  for (const pair of pairs) {
    const [name, value] = splitPair(pair)
    if (name in fields) throw malformed('A field comes twice.')
    if (pair !== '' && name !== '__proto__') fields[name] = value
  }
  return fields
}

function splitPair(pair: string): [name: string, value: string] {
  const equals = pair.indexOf('=')
  if (equals === -1) return [unescapeField(pair), '']
  return [unescapeField(pair.slice(0, equals)), unescapeField(pair.slice(equals + 1))]
}

function unescapeField(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw malformed('A field is not encoded as it must be.')
  }
}

/** Refuses arrays and objects, which parsers make of repeated names and names with brackets. */
function parsedForm(content: unknown): Record<string, string> {
  if (!isPlainObject(content)) throw malformed('The body is no form.')
  const fields: Record<string, string> = Object.create(null)
  for (const [name, value] of Object.entries(copyObject(content, 1, { left: mostValues, lostKeys: false }))) {
    if (typeof value !== 'string') throw malformed('A field comes twice.')
    fields[name] = value
  }
  refuseLarge(fields)
  return fields
}

function refuseLarge(value: unknown): void {
  if (Buffer.byteLength(JSON.stringify(value)) > bodyLimitBytes) throw new AuthError('payload_too_large')
}

interface Copying {
  /** How many more values may be copied. */
  left: number
  /** A key named `__proto__` was left out. */
  lostKeys: boolean
}

/** Copies JSON values only, so that no prototype, getter or `toJSON` is copied. */
function copyObject(source: object, depth: number, copying: Copying): Record<string, unknown> {
  if (depth > deepestBody) throw malformed('The body is nested too deeply.')
  const copy = empty()
  const members = Object.entries(source)
  if (members.length > mostFields) throw malformed(tooManyFields)
  for (const [key, value] of members) {
    requireWellFormed(key)
    if (key === '__proto__') copying.lostKeys = true
    else copy[key] = copyValue(value, depth + 1, copying)
  }
  return copy
}

function copyValue(value: unknown, depth: number, copying: Copying): unknown {
  copying.left -= 1
  if (copying.left < 0) throw malformed(tooManyFields)
  if (typeof value === 'string') requireWellFormed(value)
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' || value === null)
    return value
  if (Array.isArray(value)) {
    if (depth > deepestBody) throw malformed('The body is nested too deeply.')
    return value.map((item) => copyValue(item, depth + 1, copying))
  }
  if (isPlainObject(value)) return copyObject(value, depth, copying)
  throw malformed('The body holds what JSON cannot say.')
}

/** A lone surrogate has no UTF-8 form: two different texts would be hashed and stored as one (RFC 7493 §2.1). */
function requireWellFormed(text: string): void {
  if (/\p{Surrogate}/u.test(text)) throw malformed('A text is not well-formed Unicode.')
}

/** Includes objects of another realm, whose `Object.prototype` is not ours. */
function isPlainObject(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

function empty(): Record<string, unknown> {
  return Object.create(null)
}

const tooManyFields = `The body has more than ${mostFields} fields, or ${mostValues} values in all.`

function malformed(message: string): AuthError {
  return invalidField('', message)
}
