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
