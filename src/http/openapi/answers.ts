import { AuthError, type ErrorCode, errorTable } from '../../errors.js'
import { parseJson } from '../../lib/json-object.js'
import type { Settings } from '../../settings.js'
import { problem as problemAnswer } from '../problem.js'
import type { Route } from '../route.js'
import type { ApiFacts, ApiReference, ApiResponse, ApiSchema } from './document-types.js'

/** What any request to us may be refused with. */
const always: readonly ErrorCode[] = [
  'invalid_request',
  'forbidden',
  'csrf_rejected',
  'rate_limited',
  'internal_error',
  'store_unavailable',
]
const withBody: readonly ErrorCode[] = ['payload_too_large', 'unsupported_media_type']
/** The guard says who is signed in: one credential decides, be it of a kind that does not sign in. */
const whenSignedIn: readonly ErrorCode[] = [
  'unauthenticated',
  'token_expired',
  'token_revoked',
  'ip_not_allowed',
  'api_token_in_browser',
  'insufficient_access',
]

const text: ApiSchema = { type: 'string' }

/** Headers that answers of ours may have, for `components.headers`. */
export const apiHeaders = {
  'X-Request-Id': { description: 'The id of this request in the log.', schema: text },
  RateLimit: { description: 'Requests left for this client address, if it is known.', schema: text },
  'RateLimit-Policy': { description: 'Requests allowed, and the window in seconds.', schema: text },
  'WWW-Authenticate': { description: 'Always Bearer.', schema: text },
  'Retry-After': { description: 'Seconds to wait before the next attempt.', schema: { type: 'integer', minimum: 1 } },
  Location: { description: 'The address to go to.', schema: text },
} as const satisfies Record<string, { description: string; schema: ApiSchema }>

const led = 'Redirects the browser.'
const successSentences: Readonly<Record<string, string>> = {
  200: 'Done.',
  201: 'Created.',
  202: 'Accepted. The response is the same whether or not the account exists.',
  204: 'Done. The response has no body.',
}

/** The answers of a success, and the one that a form of our own pages gets. */
export function successes(route: Route, { schemas, settings }: ApiFacts): Record<string, ApiResponse> {
  const headers = everyHeader(settings)
  const location = { ...headers, ...headerReferences(['Location']) }
  const entries = Object.entries(route.answers ?? {}).map(([status, answer]): [string, ApiResponse] => {
    const description = successSentences[status] ?? led
    if (status.startsWith('3')) return [status, { description, headers: location }]
    if (answer === null) return [status, { description, headers }]
    if (answer === 'lines')
      return [status, { description, headers, content: { 'application/jsonl': { schema: text } } }]
    if (answer === 'page')
      return [status, { description: 'A page.', headers, content: { 'text/html': { schema: text } } }]
    return [status, { description, headers, content: { 'application/json': { schema: schemas.refer(answer) } } }]
  })
  const form = {
    303: { description: 'For forms of our own pages, on success and failure: redirects to a page.', headers: location },
  }
  return { ...(route.method === 'POST' ? form : {}), ...Object.fromEntries(entries) }
}

/** Every status that the route may refuse with, and the codes of each. */
export function refusals(route: Route, { settings }: ApiFacts): Record<string, ApiResponse | ApiReference> {
  const hooked = isHooked(route, settings)
  const codes = refusalCodes(route).filter((code) => hooked || code !== 'hook_failed')
  const entries = codes.map((code): [number, ApiResponse | ApiReference] => {
    const [status] = errorTable[code]
    const alike = codes.filter((other) => errorTable[other][0] === status)
    if (alike.length === 1 && !hooked) return [status, { $ref: `#/components/responses/${code}` }]
    return [status, refusalOf(status, alike, { settings, open: hooked })]
  })
  const others = { default: refusalOf(null, [], { settings, open: true }) }
  return { ...Object.fromEntries(entries), ...(hooked ? others : {}) }
}

/** Whether a hook of the application may refuse, which it does with any code it likes. */
function isHooked({ errors = [] }: Route, { hooks }: Settings): boolean {
  return errors.includes('hook_failed') && Object.values(hooks).some((hook) => hook !== undefined)
}

/** For `components.responses`: what many routes answer with, one code alone. */
export function sharedRefusals({ settings }: ApiFacts): Record<string, ApiResponse> {
  const codes = Object.keys(errorTable).filter(isErrorCode)
  return Object.fromEntries(
    codes.map((code) => [code, refusalOf(errorTable[code][0], [code], { settings, open: false })]),
  )
}

/** In the order of the table, each once. */
function refusalCodes({ method, signedIn, changes, duringImpersonation, errors = [] }: Route): ErrorCode[] {
  const order = Object.keys(errorTable)
  const closed: readonly ErrorCode[] =
    (method === 'GET' && !changes) || duringImpersonation ? [] : ['impersonation_forbidden']
  const whatever = [...always, ...closed, ...(method === 'GET' ? [] : withBody)]
  const codes = [...whatever, ...(signedIn ? whenSignedIn : []), ...errors]
  return [...new Set(codes)].sort((one, other) => order.indexOf(one) - order.indexOf(other))
}

/** One status with all its codes, each told in its sentence and shown by an example. `open`: there may be others. */
function refusalOf(
  status: number | null,
  codes: readonly ErrorCode[],
  { settings, open }: { settings: Settings; open: boolean },
): ApiResponse {
  const problem = { $ref: '#/components/schemas/Problem' }
  const narrowed = { type: 'object', required: ['code'], properties: { code: { type: 'string', enum: codes } } }
  const examples = Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]))
  const sentences = codes.map((code) => `\`${code}\`: ${errorTable[code][1]}`)
  return {
    description: [...sentences, ...(open ? ['Or the error of a hook of the application.'] : [])].join('\n\n'),
    headers: { ...everyHeader(settings), ...(status === null ? {} : headersOf(status)) },
    content: { 'application/problem+json': { schema: open ? problem : { allOf: [problem, narrowed] }, examples } },
  }
}

/** RFC 6750 §3; RFC 9110 §10.2.3. */
function headersOf(status: number): ApiResponse['headers'] {
  if (status === 401) return headerReferences(['WWW-Authenticate'])
  return status === 429 || status === 503 ? headerReferences(['Retry-After']) : {}
}

function everyHeader({ limits }: Settings): ApiResponse['headers'] {
  return headerReferences(['X-Request-Id', ...(limits ? (['RateLimit', 'RateLimit-Policy'] as const) : [])])
}

function headerReferences(names: readonly (keyof typeof apiHeaders)[]): ApiResponse['headers'] {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

/** An example of every error that an answer of the document names. */
export function problemExamples(): Readonly<Record<string, { value: unknown }>> {
  const codes = Object.keys(errorTable).filter(isErrorCode)
  const example = (code: ErrorCode) => parseJson(String(problemAnswer(new AuthError(code), 'b2xkIGZyaWVu-1').body))
  return Object.fromEntries(codes.map((code) => [code, { value: example(code) }]))
}

function isErrorCode(name: string): name is ErrorCode {
  return Object.hasOwn(errorTable, name)
}
