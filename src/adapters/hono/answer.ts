import { ServerResponse } from 'node:http'
import { addHeaders } from '../node/add-headers.js'
import type { HonoContext } from './message.js'

type Added = Readonly<Record<string, string>>

/**
 * Headers for the application's answer, before there is one. On node they wait beside it, as they do in every other
 * framework there: what the application itself says comes later and counts. A header of Hono's own would cost each answer
 * a copy.
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

/** What could not be added before. `Vary` is a list that everybody has a say in (RFC 9110 §12.5.5), whoever replaced it. */
export function addAfter(context: HonoContext, headers: Added): void {
  const early = outgoingOf(context.env) !== null
  for (const name in headers) {
    const value = headers[name] ?? ''
    if (name !== 'vary') {
      if (!early) context.header(name, value)
    } else if (!early || !lists(context.res.headers.get(name), value)) context.header(name, value, { append: true })
  }
}

function lists(header: string | null, value: string): boolean {
  return header?.split(',').some((one) => one.trim() === value) ?? false
}

/** @hono/node-server gives `{ incoming, outgoing }`. */
function outgoingOf(env: unknown): ServerResponse | null {
  const outgoing = env instanceof Object && 'outgoing' in env ? env.outgoing : null
  return outgoing instanceof ServerResponse ? outgoing : null
}
