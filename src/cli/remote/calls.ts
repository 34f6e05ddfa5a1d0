import type { Fields } from '../../lib/json-fields.js'
import type { Address } from '../address.js'
import { ToolError } from '../tool-error.js'
import type { Answer } from './exchange.js'
import { readAnswer, type Sent, send } from './send.js'
import type { StreamedAnswer, StreamOptions } from './stream.js'

/** A request to the control API, without its address and credential. */
export interface Call {
  method: Sent['method']
  /** Below the control API, with every id encoded: made by `path`. */
  path: string
  /** Parameters that are undefined are left out. */
  query?: Readonly<Record<string, string | number | undefined>>
  body?: unknown
  limitBytes?: number
}

/** A request whose answer is NDJSON. */
export type StreamCall = Pick<Call, 'path' | 'query'> & StreamOptions

/** Sends calls to one control API with one credential. */
export interface Client {
  /** Who asks, after the address of a target: `as ann@example.org`. */
  readonly caller: string
  /** @throws {ToolError} */
  call<T>(call: Call, read: (fields: Fields) => T): Promise<T>
  /** Headers that carry the credential, fresh for a while. */
  credential(): Promise<Readonly<Record<string, string>>>
  /** The whole answer, for calls without JSON. */
  answer(call: Call): Promise<Answer>
  /** The rows of an NDJSON answer as they arrive. */
  stream(call: StreamCall): Promise<StreamedAnswer>
}

/** Runs a step with the headers of a credential, once more where it had to be renewed. */
export type WithHeaders = <T>(step: (headers: Readonly<Record<string, string>>) => Promise<T>) => Promise<T>

export function createCalls(address: Address, withHeaders: WithHeaders): Pick<Client, 'answer' | 'call' | 'stream'> {
  const answer: Client['answer'] = ({ method, body, limitBytes, ...call }) =>
    withHeaders((headers) =>
      send({
        method,
        url: urlOf(address, call),
        headers,
        ...(body !== undefined && { body }),
        ...(limitBytes !== undefined && { limitBytes }),
      }),
    )
  return {
    answer,
    call: async (call, read) => readAnswer(await answer(call), address.site, read),
    stream: async ({ path: target, query, ...options }) => {
      const { openStream } = await import('./stream.js')
      const url = urlOf(address, { path: target, ...(query && { query }) })
      return withHeaders((headers) => openStream(url, { ...options, headers: { ...options.headers, ...headers } }))
    },
  }
}

/**
 * A path from its segments, each encoded: an id can name no other route.
 *
 * @throws {ToolError} usage, for `.` and `..`, which no encoding protects
 * @example path('tokens', id, 'rotate') // '/tokens/6f0e1b52/rotate'
 */
export function path(...segments: readonly string[]): string {
  const strange = segments.find((segment) => segment === '' || segment === '.' || segment === '..')
  if (strange !== undefined) throw new ToolError(2, 'usage', `"${strange}" is no id.`)
  return segments.map((segment) => `/${encodeURIComponent(segment)}`).join('')
}

function urlOf({ api }: Address, { path: target, query = {} }: Pick<Call, 'path' | 'query'>): string {
  const given = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) given.set(name, String(value))
  return `${api}${target}${given.size === 0 ? '' : `?${given}`}`
}
