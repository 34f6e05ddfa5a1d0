import type { ActorEntry } from '../model/session-answer.js'
import type { User } from '../model/user.js'
import type { TestCookie } from './cookies.js'

/** An answer with all that tests ask of it. */
export interface TestAnswer<Body = unknown> {
  status: number
  headers: Headers
  /** Parsed when it is JSON, else the text; null when there is none. Its type is what the test says it is. */
  body: Body
  text: string
  /** The cookies that this answer set and a browser would take. */
  cookies: TestCookie[]
  /** The address that answered, after redirects if the client followed any. */
  url: URL
}

/** What every way in answers. */
export interface SignedIn {
  user: User
  session: { id: string; expiresAt: string; actor: ActorEntry | null }
  /** Token mode only, like the next two. */
  accessToken?: string
  accessTokenExpiresAt?: string
  refreshToken?: string
}

/** The boundary: what a body holds is the test's claim, and its assertions check it. */
export function parseBody<Body>(headers: Headers, text: string): Body {
  const isJson = /^application\/([\w.-]+\+)?json\b/i.test(headers.get('content-type') ?? '')
  return JSON.parse(text === '' ? 'null' : isJson ? text : JSON.stringify(text))
}

/** The answer, if it has that status; else throws, naming the step and all that the answer says. */
export function expectStatus<Body>(answer: TestAnswer<Body>, status: number, step: string): TestAnswer<Body> {
  if (answer.status === status) return answer
  throw new Error(`${step} was answered with ${answer.status} instead of ${status}: ${answer.text}`)
}
