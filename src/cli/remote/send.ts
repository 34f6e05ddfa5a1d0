import { type Fields, listIn, readFields, textIn, WrongField } from '../../lib/json-fields.js'
import { isObject, parseJson, parseJsonObject } from '../../lib/json-object.js'
import { type Environment, variable } from '../environment.js'
import { exitCodeOf, ToolError, type ToolErrorDetails, usage } from '../tool-error.js'
import { type Answer, exchange, TooLong, TooSlow } from './exchange.js'

const limitMs = 30_000
const limitBytes = 8 * 1024 * 1024
/** Of a text that a server sends to people. */
const longestSentence = 1000

export interface Sent {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  url: string
  headers?: Readonly<Record<string, string>>
  /** Sent as JSON. */
  body?: unknown
  /** Of the response, after decompression. Default: 8 MiB. */
  limitBytes?: number
}

/** Refuses to send a credential where certificates are not checked. @throws {ToolError} usage */
export function refuseUncheckedTls(environment: Environment): void {
  if (variable(environment, 'NODE_TLS_REJECT_UNAUTHORIZED') === '0') {
    throw usage(
      'NODE_TLS_REJECT_UNAUTHORIZED=0 accepts any certificate. Unset it; NODE_EXTRA_CA_CERTS adds your own CA.',
    )
  }
}

/**
 * Sends one request to a control API that may be down, slow or hostile. It follows no redirect, so that a credential stays
 * with the server that it was saved for, and it reads a bounded text.
 *
 * @throws {ToolError} what the server refused, or that it cannot be reached
 */
export async function send(sent: Sent): Promise<Answer> {
  const { method, url, headers = {}, body } = sent
  const site = new URL(url).origin
  const json = body === undefined ? null : JSON.stringify(body)
  try {
    const answer = await exchange({
      method,
      url,
      headers: { accept: 'application/json', ...(json !== null && { 'content-type': 'application/json' }), ...headers },
      body: json,
      limitBytes: sent.limitBytes ?? limitBytes,
      limitMs,
    })
    refuse(answer, site)
    return answer
  } catch (error) {
    if (error instanceof TooLong) throw notOurs(site, `more than ${(sent.limitBytes ?? limitBytes) / 1024 / 1024} MiB`)
    throw error instanceof ToolError ? error : unreachable(site, error)
  }
}

/**
 * Reads the JSON object of an answer.
 *
 * @throws {ToolError} when the body is not a JSON object, or lacks a field that `read` asks for
 */
export function readAnswer<T>({ text }: Pick<Answer, 'text'>, site: string, read: (fields: Fields) => T): T {
  const fields = parseJsonObject(text)
  if (fields === null) throw notOurs(site, 'no JSON object')
  return asOurs(site, () => read(fields))
}

/** @throws {ToolError} when `read` finds a field that is missing or has another type */
export function asOurs<T>(site: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw error instanceof WrongField ? notOurs(site, error.message) : error
  }
}

/** The server answers, but not as a Latchkey of this kind would. */
export function notOurs(site: string, what: string): ToolError {
  return new ToolError(
    5,
    'unexpected_answer',
    `${site} does not answer like a Latchkey control API (${what}). Check the URL.`,
  )
}

/** @throws {ToolError} for every answer but a success */
export function refuse({ status, header, text }: Answer, site: string): void {
  if (status >= 200 && status < 300) return
  if (status >= 300 && status < 400)
    throw notOurs(site, `redirect with status ${status}, which the tool does not follow`)
  const problem = header('content-type')?.startsWith('application/problem+json') ? parseJson(text) : null
  if (!isObject(problem) || typeof problem.code !== 'string') {
    throw status === 502 || status === 503 || status === 504 ? noHost(site, status) : notOurs(site, `status ${status}`)
  }
  throw refusalOf(status, problem.code, problem, header('retry-after'))
}

/** A proxy answers in the place of the host. */
function noHost(site: string, status: number): ToolError {
  const message = `The host behind the proxy of ${site} does not answer (status ${status}).`
  return new ToolError(5, 'unreachable', message, { status })
}

/** Who is excluded cannot let themselves in again from here. */
const allowListHint =
  ' If the allow-list excludes you, change it on the machine of the application, in local mode: latchkey whitelist-remove <ip> --config latchkey.config.js'

/** A problem of the server as an error of the tool. Its texts come from the server, so they are cut. */
export function refusalOf(status: number, code: string, problem: Fields, retryAfter: string | null): ToolError {
  const sentence = [problem.detail, problem.title, code].find((text) => typeof text === 'string' && text !== '')
  const wait = retryAfter !== null && /^\d{1,6}$/.test(retryAfter) ? Number(retryAfter) : null
  const details: ToolErrorDetails = {
    status,
    errors: fieldErrorsOf(problem),
    ...(typeof problem.requestId === 'string' && { requestId: problem.requestId.slice(0, 100) }),
    ...(wait !== null && { retryAfterSeconds: wait }),
  }
  const waiting = status === 429 && wait !== null ? ` Wait ${wait} s.` : ''
  const again = code === 'ip_not_allowed' ? allowListHint : waiting
  return new ToolError(exitCodeOf(status, code), code, `${String(sentence).slice(0, longestSentence)}${again}`, details)
}

function fieldErrorsOf(problem: Fields): { path: string; message: string }[] {
  if (problem.errors === undefined) return []
  const read = (fields: Fields) =>
    listIn(fields, 'errors', (item) => ({ path: textIn(item, 'path'), message: textIn(item, 'message') }))
  return readFields(JSON.stringify({ errors: problem.errors }), read)?.slice(0, 20) ?? []
}

export function unreachable(site: string, error: unknown): ToolError {
  return new ToolError(5, 'unreachable', `Cannot reach ${site}: ${reasonOf(error)}.`)
}

/** What went wrong in one phrase. Where several addresses were tried, the first error counts. */
function reasonOf(error: unknown): string {
  if (error instanceof TooSlow) return `no answer within ${limitMs / 1000} s`
  const first = error instanceof AggregateError ? error.errors[0] : error
  const code = first instanceof Error && 'code' in first && typeof first.code === 'string' ? first.code : null
  if (code !== null && /SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)/.test(code))
    return `its certificate is not trusted (${code}). If it is your own, set NODE_EXTRA_CA_CERTS to the path of its CA`
  if (code !== null && /CERT|TLS/.test(code)) return `its certificate is not trusted (${code})`
  return code ?? 'the connection failed'
}
