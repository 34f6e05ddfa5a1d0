import { isObject } from '../../lib/json-object.js'

/** What came back for one request, or why nothing did. */
export type Reply =
  | { kind: 'answer'; status: number; headers: Headers; text: string }
  | { kind: 'silence'; reason: string }

const limitMs = 5_000
const limitBytes = 1024 * 1024

/** Sends one GET request and follows no redirect, because a redirect is evidence. Never rejects. */
export async function ask(
  fetch: typeof globalThis.fetch,
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Reply> {
  try {
    const response = await fetch(url, { headers, redirect: 'manual', signal: AbortSignal.timeout(limitMs) })
    return { kind: 'answer', status: response.status, headers: response.headers, text: await read(response) }
  } catch (error) {
    return { kind: 'silence', reason: reasonOf(error) }
  }
}

/** The beginning of the body. */
async function read(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk)
    size += chunk.length
    if (size > limitBytes) break
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** fetch hides the cause of a failed connection in `cause`. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'the connection failed'
  if (error.name === 'TimeoutError') return `no answer within ${limitMs / 1000} seconds`
  const { cause } = error
  const inner = cause instanceof AggregateError ? cause.errors[0] : cause
  const code = isObject(inner) && typeof inner.code === 'string' ? inner.code : null
  if (code === null) return 'the connection failed'
  return /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|TLS/.test(code) ? `its certificate is not trusted (${code})` : code
}
