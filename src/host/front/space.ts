import type { HttpRequest } from '../../http/message.js'
import type { Verdict, Watch } from '../../http/verdict.js'

/** The spaces, as the front knows them. It asks with every request, so the answers come from memory. */
export interface SpaceDirectory {
  /** The space of exactly this name; null when it is unknown or nothing is deployed in it. */
  find(name: string): Space | null
  /** Whether a space has this name, deployed or not. Cookies with its suffix are then kept from other spaces. */
  isSpace(name: string): boolean
}

export interface Space {
  id: string
  name: string
  guard: SpaceGuard
  limits: SpaceLimits
  /**
   * The child that takes new requests. Waits at most 2 s for a start.
   *
   * @throws {AuthError} `application_starting`
   */
  child(): Promise<Child>
}

/** The guard over a space's tokens, JWKS and allow-list. */
export interface SpaceGuard {
  /** Our answer, or a pass. A pass without a principal leaves the decision to the auth hooks of the application. */
  decide(request: HttpRequest): Verdict | Promise<Verdict>
  /** Calls back when the principal loses access; for answers that last. */
  watch: Watch
}

/** A process that runs the application. The same object for as long as the process lives: its connections are kept by it. */
export interface Child {
  /** The path of its unix socket, for the next connection: it changes when the child has gone. */
  readonly socketPath: string
  /** Proves to the child that a request comes from the front. */
  hopKey: string
  /**
   * Counts one request as running; the result ends it. A child that is being replaced drains by this count, and waits less for
   * event streams.
   */
  begin(kind?: 'eventStream'): () => void
}

export interface SpaceLimits {
  /** How long nothing may move on a request, in milliseconds: 504, or the end of the answer. */
  requestMs: number
  /** The largest request body, in bytes. */
  streamBytes: number
  /** The largest head of an answer, in bytes. */
  headersBytes: number
  /** How many requests of the space may be open at once. */
  connections: number
}
