import type { IncomingMessage } from 'node:http'

/** Whether the application will find in a request what was written where node keeps the headers of `incoming`. */
export type FindsHeader = (raw: Request, incoming: IncomingMessage, requestId: string) => boolean

/**
 * Only where nobody has asked for headers before: whoever did may have left a copy, or begun one. By asking for one of them,
 * which takes longer than writing them all.
 */
export const askForHeader: FindsHeader = (raw, _, requestId) => keyOfHeaders(raw, requestId) !== null

/**
 * The same, but asks only until one request has shown under which symbols it keeps what it was made of, and headers once they
 * are asked for. Of a request that was given another prototype, which reads headers elsewhere, it knows nothing.
 */
export function createHeaderFinder(): FindsHeader {
  let known: { source: symbol; headers: symbol } | null = null
  return (raw, incoming, requestId) => {
    if (known !== null && has(raw, known.source) && raw[known.source] === incoming) {
      return !(known.headers in raw) && !Object.hasOwn(raw, 'headers')
    }
    const headers = keyOfHeaders(raw, requestId)
    const source = keyOfSource(raw, incoming)
    if (headers !== null && source !== undefined) known ??= { source, headers }
    return headers !== null
  }
}

/** Whether a request was made of `incoming`, which says nothing of one that the application makes while it handles that. */
export type FindsSource = (raw: Request, incoming: IncomingMessage) => boolean

/** By a look at all that the request keeps; one that keeps it where nobody knows counts as the application's own. */
export const lookForSource: FindsSource = (raw, incoming) => keyOfSource(raw, incoming) !== undefined

/** The same, but looks only until one request has shown under which symbol it keeps what it was made of. */
export function createSourceFinder(): FindsSource {
  let known: symbol | undefined
  return (raw, incoming) => {
    if (known !== undefined && has(raw, known)) return raw[known] === incoming
    const source = keyOfSource(raw, incoming)
    known ??= source
    return source !== undefined
  }
}

function keyOfSource(raw: Request, incoming: IncomingMessage): symbol | undefined {
  return Object.getOwnPropertySymbols(raw).find((key) => Reflect.get(raw, key) === incoming)
}

/** null where headers were asked for before, or are not read where node keeps them. */
function keyOfHeaders(raw: Request, requestId: string): symbol | null {
  const before = Object.getOwnPropertySymbols(raw)
  if (raw.headers.get('x-request-id') !== requestId) return null
  const [key, ...others] = Object.getOwnPropertySymbols(raw).filter((symbol) => !before.includes(symbol))
  return key !== undefined && others.length === 0 ? key : null
}

/** For one symbol alone: V8 is slow where the same place asks for several. */
function has(raw: object, key: symbol): raw is Record<symbol, unknown> {
  return key in raw
}
