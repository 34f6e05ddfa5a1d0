import { errorTable } from '../errors.js'
import type { HttpRequest, HttpResponse } from '../http/message.js'
import type { Principal } from '../model/principal.js'

/** What is to become of a request. */
export type Verdict = Answer | Pass

/** Ours: the application never sees the request. */
interface Answer {
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

/** The whole of Latchkey as an adapter sees it. Never throws, never rejects; synchronous where nothing has to be awaited. */
export type Handle = (request: HttpRequest) => Verdict | Promise<Verdict>

/** Paths that a framework must know when it is set up, since it does not ask us about every request. From the settings. */
export interface MountPaths {
  basePath: string
  /** `baseAPIRoutes`: `/` guards everything. */
  guarded: readonly string[]
  publicRoutes: readonly string[]
}

/** One web framework. Adapters know `http/message.ts` only. */
export interface Adapter {
  /** As error messages name it. */
  name: string
  /** The platform lets every origin read every answer, whatever we say (CORS with credentials). */
  echoesCors?: boolean
  recognises(app: unknown): boolean
  /** Puts the layer in front of everything the application has or will have. */
  mount(app: unknown, handle: Handle, paths: MountPaths): void
}

/** The answer when the layer itself breaks: closed, and silent about why. */
export const failure: HttpResponse = {
  status: 500,
  headers: { 'content-type': 'application/problem+json', 'cache-control': 'no-store' },
  body: JSON.stringify({
    type: 'about:blank',
    title: 'Internal Server Error',
    status: 500,
    code: 'internal_error',
    detail: errorTable.internal_error[1],
  }),
}

/** Asks for the verdict. A handle that throws or rejects, which it must not, is a 500 and never a pass. */
export function decide<Request>(
  handle: (request: Request) => Verdict | Promise<Verdict>,
  request: Request,
): Verdict | Promise<Verdict> {
  try {
    const verdict = handle(request)
    return 'then' in verdict ? verdict.catch(() => broken) : verdict
  } catch {
    return broken
  }
}

const broken: Answer = { kind: 'answer', response: failure }
