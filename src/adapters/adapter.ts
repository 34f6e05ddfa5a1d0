import type { HttpRequest, HttpResponse } from '../http/message.js'
import type { Principal } from '../model/principal.js'

/** What is to become of a request. */
export type Verdict =
  | { kind: 'answer'; response: HttpResponse }
  /** The application's turn. */
  | {
      kind: 'pass'
      /** null on routes that need nobody. */
      principal: Principal | null
      /** Request headers as the application is to see them; null removes. null as a whole: leave all alone. */
      requestHeaders: Readonly<Record<string, string | null>> | null
      /** Headers to put on the application's answer (CORS); null for none. */
      responseHeaders: Readonly<Record<string, string>> | null
    }

/** The whole of Latchkey as an adapter sees it. Never throws, never rejects; synchronous where nothing has to be awaited. */
export type Handle = (request: HttpRequest) => Verdict | Promise<Verdict>

/** One web framework. Adapters know `http/message.ts` only. */
export interface Adapter {
  name: string
  recognises(app: unknown): boolean
  /** Puts the layer in front of everything the application has or will have. */
  mount(app: unknown, handle: Handle): void
}
