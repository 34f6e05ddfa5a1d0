import type { OutgoingHttpHeader, ServerResponse } from 'node:http'
import { type Add, addHeaders } from './add-headers.js'
import { addLate, completing, type Given, type WriteHead } from './late-headers.js'

const origin = 'Origin'

/** At once, but for `Vary`. */
export const addVarying = withLateVary(addHeaders)

/** Late what can be late. */
export const addLateVarying = withLateVary(addLate)

/**
 * `add`, but for `Vary`, which is a list that others have a say in (RFC 9110 §12.5.5): ours joins it as the head is written,
 * since whoever sets it after us, or hands over all headers at the end, would put its own in our place.
 */
function withLateVary(add: Add): Add {
  return (res, headers) => {
    if (headers.vary !== origin) return add(res, headers)
    for (const name in headers) if (name !== 'vary') res.setHeader(name, headers[name] ?? '')
    // Also where somebody wrapped it before us.
    const { writeHead }: { writeHead: WriteHead } = Object(res)
    res.writeHead = completing(varied, writeHead)
  }
}

/** What is given for the head takes the place of what was set before. */
function varied(res: ServerResponse, given: Given): Given {
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
  const isThere = named.split(',').some((one) => one.trim().toLowerCase() === origin.toLowerCase())
  return named === '' ? origin : isThere ? named : `${named}, ${origin}`
}
