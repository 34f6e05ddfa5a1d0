/** Whether the application will find in a request what was written where node keeps its headers. */
export type FindsHeader = (raw: Request, requestId: string) => boolean

/** By asking the request for one of them, which takes longer than writing them all. */
export function askForHeader(raw: Request, requestId: string): boolean {
  return raw.headers.get('x-request-id') === requestId
}

/**
 * The same, but asks each request only until one has shown under which symbol its kind keeps headers that somebody has asked
 * for. Without anything there, nobody has, and the runtime will read node's own.
 */
export function createHeaderFinder(): FindsHeader {
  let known: { kind: unknown; key: symbol } | null = null
  return (raw, requestId) => {
    const kind: unknown = Object.getPrototypeOf(raw)
    if (known !== null && kind === known.kind && !Object.hasOwn(raw, known.key)) return true
    const before = Object.getOwnPropertySymbols(raw)
    if (!askForHeader(raw, requestId)) return false
    const [key, ...others] = Object.getOwnPropertySymbols(raw).filter((symbol) => !before.includes(symbol))
    if (key !== undefined && others.length === 0) known = { kind, key }
    return true
  }
}
