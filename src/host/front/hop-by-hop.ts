import { trimBlanks } from '../../lib/http-blanks.js'

/** Headers of one connection, which a proxy never passes on (RFC 9110 §7.6.1), and those that only matter to a proxy. */
const ofTheConnection: ReadonlySet<string> = new Set([
  'connection',
  'expect',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authentication-info',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** The lower-case names that a `Connection` header lists; null for none. */
export type NamedHeaders = ReadonlySet<string> | null

/** Whether a header ends at this hop: by its name, or because `Connection` names it. */
export function endsHere(name: string, named: NamedHeaders): boolean {
  return ofTheConnection.has(name) || named?.has(name) === true
}

/** The usual values, `keep-alive` and `close`, name no header. */
export function namedByConnection(value: string): NamedHeaders {
  if (/^(?:keep-alive|close|)$/i.test(value)) return null
  return new Set(value.split(',').map((option) => trimBlanks(option).toLowerCase()))
}
