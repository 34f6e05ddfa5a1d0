import { hostname } from 'node:os'
import { sha256 } from '../../lib/digest.js'
import { type Fields, numberIn, textIn } from '../../lib/json-fields.js'
import { createRandom } from '../../lib/random.js'
import { realMonotonic, sleep } from '../../lib/runtime.js'
import { parseHttpUrl } from '../../lib/url.js'
import type { Address } from '../address.js'
import type { Environment } from '../environment.js'
import type { SignIn } from '../files/credentials.js'
import type { Output } from '../output.js'
import { startProgress } from '../progress.js'
import { ToolError } from '../tool-error.js'
import { openBrowser } from './browser.js'
import { notOurs, readAnswer } from './send.js'
import { readSignIn, sendOpen } from './signed-in.js'

const lifetimeMs = 600_000

interface Asked {
  handle: string
  userCode: string
  url: string
  intervalMs: number
}

interface ApprovalInput {
  address: Address
  environment: Environment
  output: Output
  /** Whether to open the page here. */
  browser: boolean
}

/**
 * Signs in by device approval: prints an address and a code, and asks until an administrator has typed the code there. The
 * address carries no code, so that a link in a phishing mail approves nothing (RFC 8628 §5.4). The verifier stays in memory, so a
 * copied handle is useless.
 *
 * @throws {ToolError} when the request was denied or the code expired
 */
export async function signInByApproval(input: ApprovalInput): Promise<SignIn> {
  const { address, environment, output, browser } = input
  const verifier = createRandom().token()
  const asked = await ask(address, sha256(verifier))
  for (const line of instructions(asked)) output.instruct(line)
  if (browser) openBrowser(environment, asked.url)

  const progress = await startProgress(environment, 'Waiting for the approval', output.json)
  try {
    const startedAt = realMonotonic()
    while (realMonotonic() - startedAt < lifetimeMs) {
      await sleep(asked.intervalMs)
      const signIn = await claim(address, { handle: asked.handle, verifier })
      if (signIn !== null) return signIn
      progress.step('Still waiting for the approval')
    }
    throw refused()
  } finally {
    progress.stop()
  }
}

function instructions({ url, userCode }: Asked): string[] {
  return [
    `To sign in, open   ${url}`,
    `and type the code  ${userCode}      (valid for ${lifetimeMs / 60_000} minutes, Ctrl-C cancels)`,
  ]
}

async function ask(address: Address, challenge: string): Promise<Asked> {
  const answer = await sendOpen({
    method: 'POST',
    url: `${address.api}/device`,
    body: { challenge, client: hostname() },
  }).catch((error: unknown) => {
    throw error instanceof ToolError && error.details.status === 404 ? noControlApi(address) : error
  })
  return readAnswer(answer, address.site, (fields) => ({
    handle: textIn(fields, 'handle'),
    userCode: textIn(fields, 'userCode'),
    url: pageIn(fields, address),
    // A hostile answer may neither make a busy loop nor wait for ever.
    intervalMs: Math.min(60, Math.max(1, numberIn(fields, 'interval'))) * 1000,
  }))
}

/** Null: there is no answer yet. A fault of the network is no answer. */
async function claim(address: Address, body: { handle: string; verifier: string }): Promise<SignIn | null> {
  try {
    const answer = await sendOpen({ method: 'POST', url: `${address.api}/device/token`, body })
    return answer.status === 202 ? null : readSignIn(answer, address)
  } catch (error) {
    if (!(error instanceof ToolError)) throw error
    if (error.code === 'invalid_token') throw refused()
    if (error.code === 'rate_limited') await sleep(Math.min(60, error.details.retryAfterSeconds ?? 5) * 1000)
    else if (error.code !== 'unreachable') throw error
    return null
  }
}

/**
 * The page that people are to open, on the site that was asked. A hostile server could otherwise relay the page and the code
 * of another application, and take the session that is approved there. A query could carry the code, so it is dropped.
 */
function pageIn(fields: Fields, { site }: Address): string {
  const url = parseHttpUrl(textIn(fields, 'url'))
  if (url === null || url.origin !== new URL(site).origin) throw notOurs(site, 'a page of another site')
  return `${url.origin}${url.pathname}`
}

function refused(): ToolError {
  return new ToolError(1, 'not_approved', 'The sign-in was denied, or its code expired. Run latchkey login again.')
}

function noControlApi({ site }: Address): ToolError {
  return new ToolError(4, 'not_here', `${site} has no control API. Set admin.emails in its settings.`)
}
