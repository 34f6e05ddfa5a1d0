import { type BoundedRequest, FetchFault, fetchAnswer } from '../lib/bounded-fetch.js'
import { isObject, parseJson } from '../lib/json-object.js'
import type { World } from '../lib/runtime.js'

/** Why a provider did not identify the user: a fixed word for the log, which quotes no code, token or answer. */
export class ProviderFault extends Error {
  readonly reason: string

  constructor(reason: string) {
    super(reason)
    this.name = 'ProviderFault'
    this.reason = reason
  }
}

/** The requests to a provider. Reasons in the log begin with these words. */
export type Question = 'token' | 'user' | 'emails' | 'userinfo' | 'discovery'

/** The deadline for each answer. Until then, the user waits in front of a blank page. */
const limitMs = 10_000
const limitBytes = 64 * 1024

/** GitHub refuses requests without a `User-Agent`. */
const userAgent = 'latchkey'

export type Asking = Pick<World, 'fetch' | 'timer'>

/** Gets a text from a provider's URL, unparsed. @throws {ProviderFault} */
export async function askText(
  world: Asking,
  question: Question,
  request: Pick<BoundedRequest, 'url' | 'headers' | 'body'>,
  readable: readonly number[] = [200],
): Promise<{ status: number; text: string }> {
  const headers = { accept: 'application/json', 'user-agent': userAgent, ...request.headers }
  try {
    return await fetchAnswer(world, { ...request, headers, limitMs, limitBytes, readable })
  } catch (error) {
    throw new ProviderFault(`${question}_${error instanceof FetchFault ? error.reason : 'unreachable'}`)
  }
}

/** Gets the JSON at a provider's URL; with an access token, on behalf of its user. @throws {ProviderFault} */
export async function askJson(
  world: Asking,
  question: Question,
  url: string,
  accessToken: string | null,
  headers: Readonly<Record<string, string>> = {},
): Promise<unknown> {
  // In a header, never in the URL, because URLs end up in logs (RFC 6750 §5.3).
  const authorization = accessToken === null ? {} : { authorization: `Bearer ${accessToken}` }
  const { text } = await askText(world, question, { url, headers: { ...headers, ...authorization } })
  return parseJson(text)
}

/** The same, if it is an object. @throws {ProviderFault} */
export async function askObject(...asked: Parameters<typeof askJson>): Promise<Readonly<Record<string, unknown>>> {
  const answer = await askJson(...asked)
  return isObject(answer) ? answer : refuse(`${asked[1]}_malformed`)
}

export function refuse(reason: string): never {
  throw new ProviderFault(reason)
}
