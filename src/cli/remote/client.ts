import { createWorld } from '../../lib/runtime.js'
import type { Address } from '../address.js'
import type { Credentials, SignIn } from '../files/credentials.js'
import { ToolError } from '../tool-error.js'
import { type Client, createCalls, type WithHeaders } from './calls.js'
import { headersOf, readRefreshed, sendOpen } from './signed-in.js'

/** An access token that ends within this time is refreshed first. */
const earlyMs = 30_000

interface ClientInput {
  address: Address
  credentials: Credentials
  /** Signs in once more when the server asks for a recent sign-in. Null: there is no person to approve it. */
  signInAgain: (() => Promise<SignIn>) | null
  /** What to do without a sign-in, as a line for people. */
  otherWay: string
}

/** @throws {ToolError} `not_signed_in` when there is no saved sign-in for that control API */
export function createClient({ address, credentials, signInAgain, otherWay }: ClientInput): Client {
  const saved = credentials.read(address.api)
  if (saved === null) throw notSignedIn(address, otherWay)
  let signIn = saved

  async function refresh(): Promise<void> {
    const failed = signIn
    const renewed = await credentials.replace(address.api, async (current) => {
      if (current === null) throw notSignedIn(address, otherWay)
      const isNewer = current.accessToken !== failed.accessToken && !endsSoon(current)
      return isNewer ? current : renew(address, current)
    })
    if (renewed === null) throw notSignedIn(address, otherWay)
    signIn = renewed
  }

  const withHeaders: WithHeaders = async (step) => {
    if (endsSoon(signIn)) await refresh()
    try {
      return await step(headersOf(signIn.accessToken))
    } catch (error) {
      if (isCode(error, 'unauthenticated', 'token_expired')) await refresh()
      else if (signInAgain !== null && isCode(error, 'recent_login_required')) signIn = await signInAgain()
      else throw withRemedy(error, address)
    }
    return step(headersOf(signIn.accessToken))
  }

  async function credential() {
    if (endsSoon(signIn)) await refresh()
    return headersOf(signIn.accessToken)
  }

  return { caller: `as ${saved.email}`, credential, ...createCalls(address, withHeaders) }
}

async function renew(address: Address, signIn: SignIn): Promise<SignIn> {
  const { refreshToken } = signIn
  try {
    const answer = await sendOpen({ method: 'POST', url: `${address.auth}/refresh`, body: { refreshToken } })
    return readRefreshed(answer, address, signIn)
  } catch (error) {
    throw error instanceof ToolError && error.details.status === 401 ? ended(address) : error
  }
}

function endsSoon({ accessTokenExpiresAt }: SignIn): boolean {
  return !(Date.parse(accessTokenExpiresAt) - createWorld().now() > earlyMs)
}

function isCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof ToolError && codes.includes(error.code)
}

/** The error with what to do about it. */
function withRemedy(error: unknown, { site, auth }: Address): unknown {
  if (isCode(error, 'token_revoked', 'session_expired')) return ended({ site })
  if (!(error instanceof ToolError)) return error
  const { code, message, details, exitCode } = error
  const lines = {
    recent_login_required: [`Run: latchkey login ${site}`],
    two_factor_enrolment_required: [`Open: ${auth}/two-factor/setup`],
  }[code]
  return lines === undefined ? error : new ToolError(exitCode, code, message, { ...details, lines })
}

function notSignedIn({ site }: Pick<Address, 'site'>, otherWay: string): ToolError {
  const lines = [`Run: latchkey login ${site}`, otherWay]
  return new ToolError(3, 'not_signed_in', `You are not signed in to ${site}.`, { lines })
}

function ended({ site }: Pick<Address, 'site'>): ToolError {
  return new ToolError(3, 'not_signed_in', `The session at ${site} has ended. Run: latchkey login ${site}`)
}
