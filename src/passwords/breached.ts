import { createHash } from 'node:crypto'
import { FetchFault, fetchText } from '../lib/bounded-fetch.js'
import type { World } from '../lib/runtime.js'
import { normalForm } from './password-text.js'

/** What others' breaches have made known. */
export interface BreachedPasswords {
  /** Whether the password is among them; false also while nobody can be asked. */
  includes(password: string): Promise<boolean>
}

export interface BreachedPasswordsOptions {
  /** Range API that takes the first five hexadecimal digits behind it; ends with a slash. */
  rangeApi: string
  world: Pick<World, 'fetch' | 'timer' | 'monotonic'>
  /** Called once for each pause that begins. What it throws, `includes` throws. */
  onUnavailable(reason: string): Promise<void>
}

/** For the whole answer: somebody is waiting for their registration. */
const limitMs = 1_500
/** The public API pads its answers to some 1,000 lines of 40 bytes; ranges grow by a few lines a year. */
const limitBytes = 256 * 1024
/** How long nobody asks again after a failure, so that an outage does not slow every registration. */
const pauseMs = 30_000

const prefixLength = 5
/** The other 35 digits of a SHA-1, and how often it was seen; 0 in lines that only pad (`Add-Padding`). */
const linePattern = /^([0-9A-F]{35}):(\d{1,10})$/i

/**
 * Asks a range API by k-anonymity: five hexadecimal digits of the SHA-1 leave the process, nothing else of the password,
 * and the comparison is made here (OWASP ASVS 5.0, 6.2.12; NIST SP 800-63B-4 §3.1.1.2).
 *
 * It is one rule among several, so it is open when the API is down, slow or talks nonsense, and then rests for 30 s.
 *
 * @example const breached = createBreachedPasswords({ rangeApi: 'https://api.pwnedpasswords.com/range/', world, … })
 */
export function createBreachedPasswords(options: BreachedPasswordsOptions): BreachedPasswords {
  const { rangeApi, world } = options
  let pauses = 0
  let failed = false
  let restsUntilMs = Number.NEGATIVE_INFINITY

  /** Of many that were asking when it failed, the first begins the pause and tells of it. */
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
      // After a failure one asks; the others go on without, until it has had its answer.
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

/** The digests' ends that were seen at least once, in upper case; or why there are none to be had. */
async function askRange(url: string, world: BreachedPasswordsOptions['world']): Promise<ReadonlySet<string> | string> {
  try {
    const headers = { accept: 'text/plain', 'add-padding': 'true', 'user-agent': 'latchkey' }
    return parseRange(await fetchText(world, { url, headers, limitMs, limitBytes })) ?? 'malformed'
  } catch (error) {
    if (error instanceof FetchFault) return error.reason
    throw error
  }
}

/** Null when a single line is none: then this is no range, but some page that says so with a 200. */
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
