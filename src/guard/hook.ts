import { AuthError } from '../errors.js'
import type { HttpRequest, RequestHook } from '../http/message.js'
import { takeApiKey } from '../lib/api-key-query.js'
import { isObject } from '../lib/json-object.js'
import { normalPath } from '../lib/normal-path.js'
import { plainRecord } from '../lib/plain-copy.js'
import type { HookPrincipal } from '../model/principal.js'
import type { HookRequest } from '../settings/input.js'
import type { AuthenticateHook } from '../settings.js'
import { findSpoofedHeaders } from './forwarded-headers.js'

export interface HookOptions {
  authenticate: AuthenticateHook | null
  clientIp(request: HttpRequest): string | null
  timer: (milliseconds: number, callback: () => void) => () => void
}

/** A hook that takes longer has failed. */
const limitMs = 5_000

/** Asks the application's hook for the principal of a request; null when the hook has no opinion. */
export type HookCheck = (request: HttpRequest) => HookPrincipal | null | Promise<HookPrincipal | null>

/**
 * Calls the `authenticate` setting and, when it has no opinion, the hooks of the framework. Only a principal passes.
 * `undefined` means no opinion; every other value is 403; a throw, or 5 s without a result, is 503 (ASVS 5.0, 16.5.3).
 * Synchronous when the hook is.
 */
export function createAuthenticateHook(options: HookOptions): HookCheck {
  const { authenticate } = options
  return (request) => {
    if (authenticate === null) return askFramework(options, request)
    const path = requirePath(request)
    const answered = ask(options, () => authenticate(toHookRequest(options, request, path)), read)
    if (!isPromise(answered)) return answered ?? askFramework(options, request)
    return answered.then((found) => found ?? askFramework(options, request))
  }
}

function askFramework(options: HookOptions, request: HttpRequest): ReturnType<HookCheck> {
  const path = request.hook === undefined ? null : requirePath(request)
  const found = path === null ? null : (request.hook?.(path) ?? null)
  return (
    found &&
    ask(
      options,
      () => found.decide(),
      (allowed) => readAllowed(found, allowed),
    )
  )
}

function readAllowed({ name }: ReturnType<RequestHook> & object, allowed: boolean): HookPrincipal {
  if (!allowed) throw new AuthError('forbidden', { explain: 'hook: an app.auth entry refused' })
  return Object.freeze({ kind: 'hook', subject: name, claims: Object.freeze({}) })
}

/** Hooks decide by path, so they are not asked about a path that the application might read differently (ATK-106). */
function requirePath(request: HttpRequest): string {
  const path = normalPath(request.path)
  if (path === null) throw new AuthError('forbidden', { explain: 'hook: not asked about a path with several readings' })
  return path
}

function ask<Answer, T>(
  options: HookOptions,
  run: () => Answer | Promise<Answer>,
  judge: (answer: Answer) => T,
): T | Promise<T> {
  let answer: Answer | Promise<Answer>
  try {
    answer = run()
  } catch (error) {
    throw failed(error)
  }
  return isPromise(answer) ? withinLimit(options, answer).then(judge) : judge(answer)
}

/** Ignores what the hook does after the timeout. */
async function withinLimit<Answer>({ timer }: HookOptions, answer: Promise<Answer>): Promise<Answer> {
  let cancel = () => {}
  const tooLong = new Promise<never>((_resolve, reject) => {
    cancel = timer(limitMs, () => reject(new Error('the hook took longer than 5 s')))
  })
  try {
    return await Promise.race([answer, tooLong])
  } catch (error) {
    throw failed(error)
  } finally {
    cancel()
  }
}

function failed(cause: unknown): AuthError {
  return new AuthError('hook_failed', { retryAfterSeconds: 1, explain: 'hook: it threw or took too long', cause })
}

function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}

function read(answer: unknown): HookPrincipal | null {
  if (answer === undefined) return null
  if (answer === false) throw new AuthError('forbidden', { explain: 'hook: refused' })
  const principal = toPrincipal(answer)
  if (principal === null)
    throw new AuthError('forbidden', { explain: 'hook: answered neither a principal, false nor undefined' })
  return principal
}

/** A frozen copy, so that the hook cannot change the principal later. */
function toPrincipal(answer: unknown): HookPrincipal | null {
  if (!isObject(answer)) return null
  try {
    const { kind, subject, claims = {} } = answer
    if (kind !== 'hook' || typeof subject !== 'string' || subject === '') return null
    return Object.freeze({ kind, subject, claims: plainRecord(claims) })
  } catch {
    return null
  }
}

/**
 * The request as the hook sees it, which is how the application would see it: without an API token in the query and
 * without spoofed headers.
 */
function toHookRequest({ clientIp }: HookOptions, request: HttpRequest, path: string): HookRequest {
  const { method, headers, native } = request
  const spoofedHeaders = findSpoofedHeaders(headers)
  const copied = Object.entries(headers)
    .filter(([name]) => !spoofedHeaders.includes(name))
    .map(([name, value]) => [name, Array.isArray(value) ? [...value] : value])
  return {
    method,
    path,
    query: takeApiKey(request.query)?.rest ?? request.query,
    headers: Object.fromEntries(copied),
    ip: clientIp(request),
    raw: native?.request ?? null,
  }
}
