import type { Principal } from '../model/principal.js'
import type { HttpRequest, HttpResponse } from './message.js'

/** What is to become of a request. */
export type Verdict = Answer | Pass

/** Ours: the application never sees the request. */
export interface Answer {
  kind: 'answer'
  response: HttpResponse
}

/** The application's turn. */
export interface Pass {
  kind: 'pass'
  /** null on routes that need nobody. The application reads it as `req.auth`, which is null then, never absent. */
  principal: Principal | null
  /** Names of headers that the client made up, to be taken away before `forwarded` is written. */
  spoofedHeaders: readonly string[]
  /** The raw query that the application is to see in place of its own: without the API token in it. null: leave it alone. */
  query: string | null
  /** Request headers that only we may set; null: leave all alone. */
  forwarded: ForwardedHeaders | null
  /** Headers to put on the application's answer (CORS); null for none. */
  responseHeaders: Readonly<Record<string, string>> | null
}

/** What application code may believe of a request, by our own knowledge. An object of one shape, made for every request. */
export interface ForwardedHeaders {
  'x-request-id': string
  /** Addresses are null, and the headers absent, where the client's cannot be known. */
  'x-real-ip': string | null
  'x-forwarded-for': string | null
  'x-forwarded-host': string
  'x-forwarded-port': string
  'x-forwarded-proto': string
  'x-forwarded-scheme': string
  'x-scheme': string
  /** The API token that was accepted; null where another credential was, or none. */
  'x-api-key': string | null
}

/**
 * Headers for what an API token opened: it is nobody else's to keep, and leaves no trace of its address (OWASP ASVS 5.0,
 * 14.2.1 and 14.3.2).
 */
export const privately = Object.freeze({ 'cache-control': 'private, no-store', 'referrer-policy': 'no-referrer' })

/** None of our business: the application's turn, and everything as it came. */
export const untouched: Pass = Object.freeze({
  kind: 'pass',
  principal: null,
  spoofedHeaders: Object.freeze([]),
  query: null,
  forwarded: null,
  responseHeaders: null,
})

/** The whole of Latchkey as an adapter sees it. Never throws, never rejects; synchronous where nothing has to be awaited. */
export type Handle = (request: HttpRequest) => Verdict | Promise<Verdict>

/** Like `Handle` for one route of the application, where somebody may have been found already. */
export type Ask = (request: HttpRequest, found: Principal | null) => Verdict | Promise<Verdict>

/**
 * Has `close` called once that principal may be here no more: signed out, disabled, or changed, or when nobody can tell.
 * Returns what ends the watch.
 *
 * @example socket.once('close', watch(principal, () => socket.destroy()))
 */
export type Watch = (principal: Principal, close: () => void) => () => void
