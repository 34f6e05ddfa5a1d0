import { errorTable } from '../errors.js'
import type { HttpResponse } from '../http/message.js'
import type { Answer, Ask, Handle, Verdict, Watch } from '../http/verdict.js'

/** What an adapter may need besides the handle: paths, since some frameworks do not ask us about every request. */
export interface Mounting {
  basePath: string
  /** `baseAPIRoutes`: `/` guards everything. */
  guarded: readonly string[]
  publicRoutes: readonly string[]
  /** For connections that outlive their request. */
  watch: Watch
}

/** One web framework. Adapters know `http/message.ts` only. `Guarding` is its form of middleware for one route. */
export interface Adapter<Guarding = Gate> {
  /** As error messages name it. */
  name: string
  /** The platform lets every origin read every answer, whatever we say (CORS with credentials). */
  echoesCors?: boolean
  recognises(app: unknown): boolean
  /** Puts the layer in front of everything the application has or will have. */
  mount(app: unknown, handle: Handle, mounting: Mounting): void
  /** The question as middleware of this framework, for single routes. */
  gate(ask: Ask): Guarding
}

/** Middleware for one route: `(req, res, next)`. */
export type Gate = (request: object, response: object, next: () => void) => void | Promise<void>

/** How node's server tells of anything. Called on, not applied to a list: every request comes this way. */
export type Emit = (this: unknown, event: string, ...given: unknown[]) => boolean

/** The answer when the layer itself breaks: closed, and silent about why. */
export const failure: HttpResponse = {
  status: 500,
  headers: {
    'content-type': 'application/problem+json',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  },
  body: JSON.stringify({
    type: 'about:blank',
    title: 'Internal Server Error',
    status: 500,
    code: 'internal_error',
    detail: errorTable.internal_error[1],
  }),
}

/** Asks for the verdict. A handle that throws or rejects, which it must not, is a 500 and never a pass. */
export function decide<Request, Response>(
  handle: (request: Request, response: Response) => Verdict | Promise<Verdict>,
  request: Request,
  response: Response,
): Verdict | Promise<Verdict> {
  try {
    const verdict = handle(request, response)
    return 'then' in verdict ? verdict.catch(() => broken) : verdict
  } catch {
    return broken
  }
}

const broken: Answer = { kind: 'answer', response: failure }
