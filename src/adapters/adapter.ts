import { errorTable } from '../errors.js'
import type { HttpResponse } from '../http/message.js'
import type { Answer, Ask, Handle, Verdict, Watch } from '../http/verdict.js'
import type { Logger } from '../settings.js'

/** What an adapter may need besides the handle: the paths, because some frameworks do not pass us every request. */
export interface Mounting {
  basePath: string
  /** Paths of our routes that belong to the whole host, below `/.well-known/`. */
  atRoot?: readonly string[]
  /** `baseAPIRoutes`: `/` guards everything. */
  guarded: readonly string[]
  publicRoutes: readonly string[]
  /** The application has an `authenticate` hook, which may decide by path. */
  hooked: boolean
  /** For connections that outlive their request. */
  watch: Watch
  logger: Logger
}

/** One web framework. Adapters know `http/message.ts` only. `Guarding` is the framework's form of middleware for one route. */
export interface Adapter<Guarding = Gate> {
  /** The name in error messages. */
  name: string
  /** The platform allows every origin to read every response (CORS with credentials), whatever we answer. */
  echoesCors?: boolean
  /** The default of `cookies.suffix`; null where nothing else shares the application's origin. */
  cookieSuffix?(): string | null
  recognises(app: unknown): boolean
  /** Puts the layer in front of everything the application has or will have. */
  mount(app: unknown, handle: Handle, mounting: Mounting): void
  /** The paths of the application's routes; null when one of them is not known. Not every framework keeps a list. */
  routes?(app: unknown): readonly string[] | null
  /** A check as middleware of this framework, for single routes. */
  gate(ask: Ask): Guarding
}

/** Middleware for one route: `(req, res, next)`. */
export type Gate = (request: object, response: object, next: () => void) => void | Promise<void>

/** How node's server emits its events. It is called directly, not applied to a list, because every request comes this way. */
export type Emit = (this: unknown, event: string, ...given: unknown[]) => boolean

/** The response when the layer itself fails. It refuses and gives no reason. */
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

/** Asks for the verdict. A handle must not throw or reject; if it does, the response is 500 and never a pass. */
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
