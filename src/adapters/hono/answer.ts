import { ServerResponse } from 'node:http'
import { addHeaders } from '../node/add-headers.js'
import { variesBy } from '../vary.js'
import type { HonoContext } from './message.js'

type Added = Readonly<Record<string, string>>

/**
 * Headers for the application's response, before there is one. On node they are set on node's response, as with every other
 * framework there: headers that the application sets later replace them. As headers of Hono's own they would cost a copy of
 * each response.
 *
 * Throws when one of them cannot be written.
 */
export function addBefore(context: HonoContext, headers: Added): void {
  const outgoing = outgoingOf(context.env)
  if (outgoing === null) {
    new Headers(headers)
    return
  }
  const { vary, ...others } = headers
  if (vary !== undefined) context.header('vary', vary, { append: true })
  addHeaders(outgoing, others)
}

/** Adds the rest afterwards. An entry of `Vary` is added if it is missing. */
export function addAfter(context: HonoContext, headers: Added): void {
  const early = outgoingOf(context.env) !== null
  for (const name in headers) {
    const value = headers[name] ?? ''
    if (name !== 'vary') {
      if (!early) context.header(name, value)
    } else if (!early || !variesBy(context.res.headers.get(name), value)) context.header(name, value, { append: true })
  }
}

/** @hono/node-server gives `{ incoming, outgoing }`. */
function outgoingOf(env: unknown): ServerResponse | null {
  const outgoing = env instanceof Object && 'outgoing' in env ? env.outgoing : null
  return outgoing instanceof ServerResponse ? outgoing : null
}
