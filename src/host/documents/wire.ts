import { StoreError, storeErrorCodes } from './store-error.js'
import { isPlain } from './values.js'

/**
 * How a child reaches its data: HTTP/1.1 keep-alive over a unix socket. Each call is `POST /<port>/<verb>` with
 * `authorization: Bearer <key>` and the arguments as a JSON array. The answer is 200 with `{ "value": … }`, or a status from 400
 * on with `{ "code", "message" }`. Both sides read this file.
 */
export const wireVerbs = {
  documents: ['get', 'put', 'remove', 'scan', 'putMany', 'changeMany', 'count', 'drop', 'list'],
  indexes: ['list', 'create', 'build', 'scan', 'remove'],
  keyValues: ['get', 'set', 'remove', 'increment', 'page', 'removePage'],
} as const

export type WirePort = keyof typeof wireVerbs

const wirePorts = ['documents', 'indexes', 'keyValues'] as const satisfies readonly WirePort[]

/** A larger request is answered 413. Further requests wait. */
export const wireLimits = { requestBytes: 16 * 1024 * 1024, concurrentRequests: 32 } as const

const statuses = {
  already_exists: 409,
  not_current: 409,
  plan_outdated: 409,
  query_invalid: 422,
  quota_exceeded: 413,
  store_unavailable: 503,
} as const

export interface WireCall {
  port: WirePort
  verb: string
}

export function wirePath({ port, verb }: WireCall): string {
  return `/${port}/${verb}`
}

/** null for an unknown call. */
export function parseWirePath(path: string): WireCall | null {
  const [, port, verb = '', ...rest] = path.split('/')
  const known = wirePorts.find((each) => each === port)
  if (!known || rest.length > 0) return null
  const verbs: readonly string[] = wireVerbs[known]
  return verbs.includes(verb) ? { port: known, verb } : null
}

export interface WireAnswer {
  status: number
  text: string
}

export function wireValue(value: unknown): WireAnswer {
  return { status: 200, text: JSON.stringify({ value: value ?? null }) }
}

/** Errors other than `StoreError` reach the child as `store_unavailable`, without their cause. */
export function wireFault(error: unknown): WireAnswer {
  const { code, message } = error instanceof StoreError ? error : unavailable()
  return { status: statuses[code], text: JSON.stringify({ code, message }) }
}

/** @throws {StoreError} what the answer says, or `store_unavailable` when it says nothing that can be read */
export function readWireAnswer({ status, text }: { status: number; text: string | Uint8Array }): unknown {
  const answer = parse(typeof text === 'string' ? text : new TextDecoder().decode(text))
  if (isPlain(answer) && status === 200 && Object.hasOwn(answer, 'value')) return answer.value
  const { code, message } = isPlain(answer) ? answer : {}
  const known = storeErrorCodes.find((each) => each === code)
  throw known && typeof message === 'string' ? new StoreError(known, message) : unavailable()
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function unavailable(): StoreError {
  return new StoreError('store_unavailable', 'The data of this space cannot be reached. Try again shortly.')
}
