import type { HttpRequest } from '../../../http/message.js'
import type { Handle, Pass } from '../../../http/verdict.js'
import type { NodeRequest } from '../message.js'

/** `next` of Express and connect, and the function that both call when no layer is left. */
export type Next = (error?: unknown) => void

/** A guard's judgement of a request that is inside its application. */
export interface Judged {
  /** Distinguishes the guards of several `init` calls. */
  readonly handle: Handle
  /** The judgement of the guard around this one: a guarded application may be mounted in another. */
  readonly outer: Judged | undefined
  /** The request as it arrived at the guard. */
  readonly arrived: HttpRequest
  /** The prefix that routers had removed from the path by then. */
  readonly entry: string
  /** The path below `entry`. */
  path: string
  method: string
  /** A hook of the application decides by path, whatever the principal. */
  readonly hooked: boolean
  /** The URL with this path, if no further prefix is removed. The next layer mostly has the same text: it is compared first. */
  url: string | undefined
  pass: Pass
  /** The raw headers as they arrived; null while we have removed none. */
  rawHeaders: readonly string[] | null
}

const judgedKey: unique symbol = Symbol('latchkey.judged')
const takenKey: unique symbol = Symbol('latchkey.taken')

/** The innermost mount of connect. Applications of connect and Express may be mounted in each other, in any order. */
export interface Taken {
  /** The prefix that all routers had removed by then. */
  mounted: string
  /** `baseUrl` at that time: Express appends to it what it removes further in. */
  baseUrl: string
}

export interface JudgedRequest extends NodeRequest {
  /** The prefix that Express has removed from the path. It knows nothing of what connect removed. */
  baseUrl?: string
  /** What connect has removed from the path. connect itself does not record it. */
  [takenKey]?: Taken | undefined
  /** The innermost guard's judgement: the top of a stack. */
  [judgedKey]?: Judged | undefined
}

/** Records what connect has removed from the path, or restores an earlier record. */
export function setTaken(req: JudgedRequest, taken: Taken | undefined): void {
  req[takenKey] = taken
}

export function takenOf(req: JudgedRequest): Taken | undefined {
  return req[takenKey]
}

/** The prefix that routers have removed from the path so far. */
export function mountedOf(req: JudgedRequest): string {
  const { baseUrl = '', [takenKey]: taken } = req
  if (taken === undefined) return baseUrl
  return taken.mounted + (baseUrl.startsWith(taken.baseUrl) ? baseUrl.slice(taken.baseUrl.length) : baseUrl)
}

export function innermost(req: JudgedRequest): Judged | undefined {
  return req[judgedKey]
}

/** Pushes a judgement onto the stack, or restores an earlier state of it. */
export function setInnermost(req: JudgedRequest, judged: Judged | undefined): void {
  req[judgedKey] = judged
}

/** Calls `done` with the stack as it is now: after the guarded application, only the guards around it judge. */
export function leaving(req: JudgedRequest, done: Next): Next {
  const outer = req[judgedKey]
  return (error) => {
    req[judgedKey] = outer
    done(error)
  }
}
