import type { HttpRequest } from './message.js'

/**
 * Whether a person looks at what comes back, and so is to get a page and no problem document. Browsers say so in
 * `Sec-Fetch-Mode`, old ones in `Accept` only.
 */
export function isForEyes({ method, headers }: Pick<HttpRequest, 'method' | 'headers'>): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false
  const mode = headers['sec-fetch-mode']
  return mode === undefined ? /\btext\/html\b/i.test(String(headers.accept ?? '')) : mode === 'navigate'
}
