import { type BoundedRequest, FetchFault, fetchAnswer } from '../lib/bounded-fetch.js'
import { isObject, parseJson } from '../lib/json-object.js'
import type { World } from '../lib/runtime.js'

/** Why a provider did not tell who signed in: a fixed word for the log, nothing of the exchange. */
export class ProviderFault extends Error {
  readonly reason: string

  constructor(reason: string) {
    super(reason)
    this.name = 'ProviderFault'
    this.reason = reason
  }
}

/** What is asked, as reasons in the log begin. */
export type Question = 'token' | 'user' | 'emails' | 'userinfo' | 'discovery'

/** For each answer as a whole; somebody is waiting in front of a white page. */
const limitMs = 10_000
const limitBytes = 64 * 1024

/** GitHub refuses requests without one. */
const userAgent = 'latchkey'

export type Asking = Pick<World, 'fetch' | 'timer'>

/** A text from a provider's address, unread. @throws {ProviderFault} */
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

/** The JSON at a provider's address; with an access token, on behalf of whoever signed in. @throws {ProviderFault} */
export async function askJson(
  world: Asking,
  question: Question,
  url: string,
  accessToken: string | null,
  headers: Readonly<Record<string, string>> = {},
): Promise<unknown> {
  // In a header, never in the address, which ends up in logs (RFC 6750 §5.3).
  const authorization = accessToken === null ? {} : { authorization: `Bearer ${accessToken}` }
  const { text } = await askText(world, question, { url, headers: { ...headers, ...authorization } })
  return parseJson(text)
}

/** The same where it must be an object. @throws {ProviderFault} */
export async function askObject(...asked: Parameters<typeof askJson>): Promise<Readonly<Record<string, unknown>>> {
  const answer = await askJson(...asked)
  return isObject(answer) ? answer : refuse(`${asked[1]}_malformed`)
}

export function refuse(reason: string): never {
  throw new ProviderFault(reason)
}
