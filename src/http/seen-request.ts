import { memberOf } from '../lib/members.js'
import { forwardingHeaders } from '../model/doctor-echo.js'
import type { HttpRequest } from './message.js'

/** The forwarding headers of a request, each as one text. No other header is read. */
export function forwardedBy({ headers }: Pick<HttpRequest, 'headers'>): Record<string, string> {
  const sent = forwardingHeaders.flatMap((name): [string, string][] => {
    const value = headers[name]
    return value === undefined ? [] : [[name, [value].flat().join(', ')]]
  })
  return Object.fromEntries(sent)
}

/** The scheme of the connection to this process; null where the platform does not show it. */
export function schemeOf({ native }: Pick<HttpRequest, 'native'>): 'http' | 'https' | null {
  const socket = memberOf(memberOf(native, 'request'), 'socket')
  if (socket === undefined) return null
  return memberOf(socket, 'encrypted') === true ? 'https' : 'http'
}
