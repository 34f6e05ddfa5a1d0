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
  /** Request headers as the application is to see them; null removes. null as a whole: leave all alone. */
  requestHeaders: Readonly<Record<string, string | null>> | null
  /** Headers to put on the application's answer (CORS); null for none. */
  responseHeaders: Readonly<Record<string, string>> | null
}

/** None of our business: the application's turn, and everything as it came. */
export const untouched: Pass = Object.freeze({
  kind: 'pass',
  principal: null,
  requestHeaders: null,
  responseHeaders: null,
})

/** The whole of Latchkey as an adapter sees it. Never throws, never rejects; synchronous where nothing has to be awaited. */
export type Handle = (request: HttpRequest) => Verdict | Promise<Verdict>
