import type { Principal } from '../model/principal.js'
import type { HttpRequest, HttpResponse } from './message.js'

/** The decision about a request. */
export type Verdict = Answer | Pass

/** We respond; the application never sees the request. */
export interface Answer {
  kind: 'answer'
  response: HttpResponse
}

/** The application handles the request. */
export interface Pass {
  kind: 'pass'
  /** null on public routes. The application reads it as `req.auth`, which is then null, never absent. */
  principal: Principal | null
  /** Names of spoofed headers, which are removed before `forwarded` is written. */
  spoofedHeaders: readonly string[]
  /** The raw query without the API token, which replaces the original one. null: unchanged. */
  query: string | null
  /** Request headers that only we may set; null: unchanged. */
  forwarded: ForwardedHeaders | null
  /** Headers for the application's response (CORS); null for none. */
  responseHeaders: Readonly<Record<string, string>> | null
}

/** Trusted headers for the application. One object of a fixed shape per request. */
export interface ForwardedHeaders {
  'x-request-id': string
  /** Addresses are null, and the headers absent, when the client's address is unknown. */
  'x-real-ip': string | null
  'x-forwarded-for': string | null
  'x-forwarded-host': string
  'x-forwarded-port': string
  'x-forwarded-proto': string
  'x-forwarded-scheme': string
  'x-scheme': string
  /** The accepted API token; null when another credential or none was used. */
  'x-api-key': string | null
}

/**
 * Headers for responses to an API token: no caching, and no referrer, since the URL may contain the token (OWASP ASVS 5.0,
 * 14.2.1 and 14.3.2).
 */
export const privately = Object.freeze({ 'cache-control': 'private, no-store', 'referrer-policy': 'no-referrer' })

/** Passes the request to the application unchanged. */
export const untouched: Pass = Object.freeze({
  kind: 'pass',
  principal: null,
  spoofedHeaders: Object.freeze([]),
  query: null,
  forwarded: null,
  responseHeaders: null,
})

/** All of Latchkey as an adapter sees it. Never throws, never rejects; synchronous when it need not wait. */
export type Handle = (request: HttpRequest) => Verdict | Promise<Verdict>

/** Like `Handle` for one route of the application. `found` is the principal that the guard found before, if any. */
export type Ask = (request: HttpRequest, found: Principal | null) => Verdict | Promise<Verdict>

/**
 * Calls `close` when the principal loses access (signed out, disabled or changed) or when revocation data is stale. Returns
 * a function that ends the watch.
 *
 * @example socket.once('close', watch(principal, () => socket.destroy()))
 */
export type Watch = (principal: Principal, close: () => void) => () => void
