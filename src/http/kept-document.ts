import { type ContentCoding, compressedOnce } from '../lib/compressed.js'
import { sha256 } from '../lib/digest.js'
import { trimBlanks } from '../lib/http-blanks.js'
import type { Settings } from '../settings.js'
import type { HttpRequest, HttpResponse } from './message.js'
import { jsonBytes, notModified, withHeaders } from './problem.js'
import type { RouteContext } from './route.js'

/**
 * Stands in a document for the path of the auth routes. A mount can give each request another path, so the document is made
 * with this mark, once, and the path is put in its place.
 */
export const authPathMark = '/%auth-path%'

/** An application has one such path, or a few mounts. Further paths get the document without compression. */
const keptPaths = 4

/** The bytes of a document at one path. */
interface Version {
  bytes: Uint8Array
  /** Of the bytes, without the quotes of an entity tag. */
  tag: string
  compressed(coding: ContentCoding): Promise<Uint8Array>
}

/**
 * Answers with a JSON document that depends on the settings alone. It is made at the first request and kept as bytes, so that
 * a flood of requests costs no more than sending them.
 *
 * @param make the value of the document, with `authPathMark` in place of the path of the auth routes
 */
export function keptDocument(
  make: (context: RouteContext) => unknown,
): (context: RouteContext) => Promise<HttpResponse> {
  const made = new WeakMap<Settings, (authPath: string) => Version & { isKept: boolean }>()
  return async (context) => {
    const { settings, request, authPath } = context
    const versionAt = made.get(settings) ?? versionsOf(JSON.stringify(make(context)))
    made.set(settings, versionAt)
    const { bytes, tag, isKept, compressed } = versionAt(authPath)
    const coding = isKept ? acceptedEncoding(request.headers['accept-encoding']) : null
    const body = coding === null ? bytes : await compressed(coding)
    return tagged(request, encoded(jsonBytes(200, body), coding), coding === null ? tag : `${tag}-${coding}`)
  }
}

function versionsOf(text: string): (authPath: string) => Version & { isKept: boolean } {
  const pieces = text.split(authPathMark)
  const versions = new Map<string, Version>()
  return (authPath) => {
    const known = versions.get(authPath)
    if (known) return { ...known, isKept: true }
    const whole = pieces.join(JSON.stringify(authPath).slice(1, -1))
    const bytes = Buffer.from(whole)
    const version = { bytes, tag: sha256(whole), compressed: compressedOnce(bytes) }
    const isKept = versions.size < keptPaths
    if (isKept) versions.set(authPath, version)
    return { ...version, isKept }
  }
}

/** The headers of a body that is sent compressed, or could be. */
export function encoded(response: HttpResponse, coding: ContentCoding | null): HttpResponse {
  return withHeaders(response, {
    vary: 'accept-encoding',
    ...(coding === null ? {} : { 'content-encoding': coding }),
  })
}

/**
 * The response with its entity tag, or 304 when the client has these bytes (RFC 9110 §13.1.2). Tags contain no quotes, so a
 * search for the quoted tag finds it in any list, weak or not.
 */
export function tagged({ headers }: Pick<HttpRequest, 'headers'>, response: HttpResponse, tag: string): HttpResponse {
  const etag = `"${tag}"`
  const held = [headers['if-none-match'] ?? ''].flat().join(',')
  const answer = withHeaders(response, { etag })
  return held === '*' || held.includes(etag) ? notModified(answer) : answer
}

/**
 * The best content coding of ours that a request accepts (RFC 9110 §12.5.3): brotli before gzip, null for neither.
 * A coding with `q=0` is refused. `*` and other weights are ignored: every browser names its codings.
 *
 * @example acceptedEncoding('gzip, deflate, br') // 'br'
 */
export function acceptedEncoding(header: string | readonly string[] | undefined): 'br' | 'gzip' | null {
  const accepted = [header ?? '']
    .flat()
    .join(',')
    .toLowerCase()
    .split(',')
    .map((part) => part.split(';').map((piece) => trimBlanks(piece)))
    .filter(([, weight = '']) => !/^q=0(?:\.0*)?$/.test(weight))
    .map(([coding]) => coding)
  if (accepted.includes('br')) return 'br'
  return accepted.includes('gzip') ? 'gzip' : null
}
