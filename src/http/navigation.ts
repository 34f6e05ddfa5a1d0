import type { HttpRequest } from './message.js'

/**
 * Whether a browser shows the response as a page, so that errors should be pages too. Browsers send `Sec-Fetch-Mode`; old
 * ones only `Accept`.
 */
export function isForEyes({ method, headers }: Pick<HttpRequest, 'method' | 'headers'>): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false
  const mode = headers['sec-fetch-mode']
  return mode === undefined ? /\btext\/html\b/i.test(String(headers.accept ?? '')) : mode === 'navigate'
}

/**
 * Whether a page makes its visitor's browser send the request on the side: an image, a frame, a script's call, a prefetch. Old
 * browsers do not say. (Fetch Metadata Request Headers; `Sec-Purpose` of the Fetch Standard)
 */
export function isEmbedded({ headers }: Pick<HttpRequest, 'headers'>): boolean {
  const { 'sec-fetch-dest': dest = 'document', 'sec-fetch-mode': mode = 'navigate' } = headers
  return dest !== 'document' || mode !== 'navigate' || headers['sec-purpose'] !== undefined
}
