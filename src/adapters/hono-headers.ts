/** Whether the application will find in a request what was written where node keeps its headers. */
export type FindsHeader = (raw: Request, requestId: string) => boolean

/**
 * Only where nobody has asked for headers before: whoever did may have left a copy, or begun one. By asking for one of them,
 * which takes longer than writing them all.
 */
export function askForHeader(raw: Request, requestId: string): boolean {
  return keyOfHeaders(raw, requestId) !== null
}

/** The same, but asks only until one request has shown under which symbol its kind keeps headers once they are asked for. */
export function createHeaderFinder(): FindsHeader {
  let known: { kind: unknown; key: symbol } | null = null
  return (raw, requestId) => {
    const kind: unknown = Object.getPrototypeOf(raw)
    if (known !== null && kind === known.kind) return !(known.key in raw) && !Object.hasOwn(raw, 'headers')
    const key = keyOfHeaders(raw, requestId)
    if (key !== null) known ??= { kind, key }
    return key !== null
  }
}

/** null where headers were asked for before, or are not read where node keeps them. */
function keyOfHeaders(raw: Request, requestId: string): symbol | null {
  const before = Object.getOwnPropertySymbols(raw)
  if (raw.headers.get('x-request-id') !== requestId) return null
  const [key, ...others] = Object.getOwnPropertySymbols(raw).filter((symbol) => !before.includes(symbol))
  return key !== undefined && others.length === 0 ? key : null
}
