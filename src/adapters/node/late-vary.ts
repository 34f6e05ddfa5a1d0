import type { OutgoingHttpHeader, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { variesBy } from '../vary.js'

type Given = OutgoingHttpHeaders | OutgoingHttpHeader[] | undefined
type WriteHead = (this: ServerResponse, status: number, reason?: string | Given, given?: Given) => ServerResponse

const origin = 'Origin'

/**
 * Joins `Origin` to the `Vary` header when the head is written.
 *
 * Code that sets `Vary` after us, or gives all headers to `writeHead`, would replace an entry that was set at once.
 */
function varyByOrigin(res: ServerResponse): void {
  // A framework or middleware may have wrapped it before us.
  const { writeHead }: { writeHead: WriteHead } = Object(res)
  res.writeHead = joiningOrigin(writeHead)
}

function joiningOrigin(before: WriteHead): WriteHead {
  return function writeHead(status, reason, given) {
    if (typeof reason === 'string') return before.call(this, status, reason, withOrigin(this, given))
    return before.call(this, status, withOrigin(this, given ?? reason))
  }
}

/** Headers given to `writeHead` replace those that were set before. */
function withOrigin(res: ServerResponse, given: Given): Given {
  if (Array.isArray(given)) {
    const at = given.findIndex((name, index) => index % 2 === 0 && isVary(String(name)))
    if (at !== -1) return given.map((part, index) => (index === at + 1 ? joined(part) : part))
  } else {
    for (const name in given) if (isVary(name)) return { ...given, [name]: joined(given[name]) }
    if (!res.hasHeader('vary')) return { ...given, vary: origin }
  }
  res.setHeader('vary', joined(res.getHeader('vary')))
  return given
}

function isVary(name: string): boolean {
  return name.length === 4 && name.toLowerCase() === 'vary'
}

function joined(header: OutgoingHttpHeader | undefined): string {
  const named = [header ?? []].flat().join(', ')
  return named === '' ? origin : variesBy(named, origin) ? named : `${named}, ${origin}`
}

/** Adds headers to the application's response: at once, but for `Vary: Origin`, which waits until the head is written. */
export function addHeaders(res: ServerResponse, headers: Readonly<Record<string, string>>): void {
  for (const name in headers) {
    const value = headers[name] ?? ''
    if (name !== 'vary') res.setHeader(name, value)
    else if (value === 'Origin') varyByOrigin(res)
    else res.appendHeader(name, value)
  }
}
