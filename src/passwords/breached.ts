import { createHash } from 'node:crypto'
import { FetchFault, fetchText } from '../lib/bounded-fetch.js'
import type { World } from '../lib/runtime.js'
import { normalForm } from './passwords.js'

/** Passwords from known breaches. */
export interface BreachedPasswords {
  /** Whether the password is among them. Also false while the API does not answer. */
  includes(password: string): Promise<boolean>
}

export interface BreachedPasswordsOptions {
  /** URL of a range API; it ends with a slash, and the first five hexadecimal digits are appended. */
  rangeApi: string
  world: Pick<World, 'fetch' | 'timer' | 'monotonic'>
  /** Called once for each pause that begins. `includes` throws its error. */
  onUnavailable(reason: string): Promise<void>
}

/** The limit for the whole answer. Meanwhile a visitor waits for their registration. */
const limitMs = 1_500
/** The public API pads its answers to some 1,000 lines of 40 bytes; ranges grow by a few lines a year. */
const limitBytes = 256 * 1024
/** How long the API is left alone after a failure, so that an outage does not slow every registration. */
const pauseMs = 30_000

const prefixLength = 5
/** The other 35 digits of a SHA-1, and how often it was seen; 0 in lines that only pad (`Add-Padding`). */
const linePattern = /^([0-9A-F]{35}):(\d{1,10})$/i

/**
 * Asks a range API by k-anonymity: five hexadecimal digits of the SHA-1 leave the process, nothing else of the password,
 * and the comparison is made here (OWASP ASVS 5.0, 6.2.12; NIST SP 800-63B-4 §3.1.1.2).
 *
 * It is one rule among several, so the password passes when the API is down, slow or invalid. The check then pauses for 30 s.
 *
 * @example const breached = createBreachedPasswords({ rangeApi: 'https://api.pwnedpasswords.com/range/', world, … })
 */
export function createBreachedPasswords(options: BreachedPasswordsOptions): BreachedPasswords {
  const { rangeApi, world } = options
  let pauses = 0
  let failed = false
  let restsUntilMs = Number.NEGATIVE_INFINITY

  /** Of many requests that fail together, the first begins the pause and reports it. */
  async function pause(pausesBefore: number, reason: string): Promise<void> {
    if (pausesBefore !== pauses) return
    pauses += 1
    failed = true
    restsUntilMs = world.monotonic() + pauseMs
    await options.onUnavailable(reason)
  }

  return {
    async includes(password) {
      const text = normalForm(password)
      if (text === null || world.monotonic() < restsUntilMs) return false
      // After a failure one request tries again; the others pass until it has its answer.
      if (failed) restsUntilMs = world.monotonic() + pauseMs

      const pausesBefore = pauses
      const digest = createHash('sha1').update(text, 'utf8').digest('hex').toUpperCase()
      const range = await askRange(rangeApi + digest.slice(0, prefixLength), world)
      if (typeof range === 'string') {
        await pause(pausesBefore, range)
        return false
      }
      failed = false
      restsUntilMs = Number.NEGATIVE_INFINITY
      return range.has(digest.slice(prefixLength))
    },
  }
}

/**
 * Why the range API gives no usable answer, as a code; null when it works. It is asked for a range of no password.
 *
 * @param rangeApi as in the options
 */
export async function rangeApiFault(rangeApi: string, world: Pick<World, 'fetch' | 'timer'>): Promise<string | null> {
  const range = await askRange(`${rangeApi}00000`, world)
  return typeof range === 'string' ? range : null
}

/** The ends of digests that were seen at least once, in upper case; or the reason why there are none. */
async function askRange(url: string, world: Pick<World, 'fetch' | 'timer'>): Promise<ReadonlySet<string> | string> {
  try {
    const headers = { accept: 'text/plain', 'add-padding': 'true', 'user-agent': 'latchkey' }
    return parseRange(await fetchText(world, { url, headers, limitMs, limitBytes })) ?? 'malformed'
  } catch (error) {
    if (error instanceof FetchFault) return error.reason
    throw error
  }
}

/** Null if any line is malformed: then the text is some other page that was sent with a 200. */
function parseRange(text: string): ReadonlySet<string> | null {
  const seen = new Set<string>()
  for (const line of text.split(/\r?\n/)) {
    if (line === '') continue
    const [, rest, count] = linePattern.exec(line) ?? []
    if (rest === undefined) return null
    if (Number(count) > 0) seen.add(rest.toUpperCase())
  }
  return seen
}
