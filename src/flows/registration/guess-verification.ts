import type { OneTimeToken } from '../../model/one-time-token.js'
import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import { countPassword, countTry, guessesOf, type PasswordLimitPorts } from '../steps/account-limits.js'
import { matchesCode } from '../steps/mailed-code.js'
import { requireEmail } from '../steps/require-account-fields.js'
import { holdsHandle, readApplicant } from './draft.js'

type GuessPorts = PasswordLimitPorts &
  Pick<Ports, 'users' | 'oneTimeTokens' | 'passwords' | 'keyring' | 'random' | 'clock' | 'policy'>

interface Guess {
  email?: string | undefined
  code?: string
  password: string | null
  handle: string | null
  device: string | null
  visitor: Visitor
}

/**
 * The token that this code confirms, or null. A guess needs the browser's handle or the password, and only then uses up
 * guesses: otherwise strangers could block a code that they cannot use. The browser that registered need not send the address
 * again, because its handle belongs to one registration.
 *
 * @throws {AuthError} `rate_limited`, `invalid_request`, `busy`
 */
export async function guessVerification(ports: GuessPorts, guess: Guess): Promise<OneTimeToken | null> {
  if (guess.email === undefined) {
    const own = await findByHandle(ports, guess.handle)
    return own && guessByHandle(ports, [own], guess)
  }
  const email = requireEmail(guess.email).canonical
  const live = await listByEmail(ports, email)
  const own = live.filter((token) => holdsHandle(ports, token, guess.handle))
  if (own.length > 0) return guessByHandle(ports, own, guess)
  return guess.password === null ? null : guessByPassword(ports, live, { ...guess, email, password: guess.password })
}

/**
 * Code and browser have separate guesses. A guess that one of them refuses uses up none of the other's, so that the user can
 * still use those after the wait.
 */
async function guessByHandle(
  ports: GuessPorts,
  own: readonly OneTimeToken[],
  { code = '' }: Guess,
): Promise<OneTimeToken | null> {
  const open = own.filter(({ tries }) => tries < ports.policy.codeTries)
  const [first] = open
  if (!first) return null
  const subject = guessesOf(first)
  await countTry(ports, 'guess', subject)
  const counted: OneTimeToken[] = []
  for (const token of open) if (await countAt(ports, token)) counted.push(token)
  const found = counted.find((token) => matchesCode(ports, token, code)) ?? null
  if (found) await ports.limiter.forget('guess', [subject])
  return found
}

/**
 * Counted like a sign-in, and forgotten only if the code is right, too. Exactly one password is compared, even if no
 * registration waits (OWASP ASVS 5.0, 6.3.8): that of the code's registration, otherwise that of a random one. So guesses of a
 * stranger who registered the same address soon count there, however often it was registered since. The answer and its time
 * are the same whether code or password is wrong: a difference would reveal an uncounted code, or that an account exists.
 */
async function guessByPassword(
  ports: GuessPorts,
  live: readonly OneTimeToken[],
  { email, code = '', password, device, visitor }: Guess & { email: string; password: string },
): Promise<OneTimeToken | null> {
  const startedAt = ports.clock.monotonicMs()
  const named = live.find((token) => matchesCode(ports, token, code)) ?? null
  const compared = named ?? anyOf(ports, live)
  const stored = compared && (await passwordHashOf(ports, compared))
  const userId = live.find((token) => token.userId !== null)?.userId ?? null
  const { failures, source } = await countPassword(ports, { address: email, userId, device, visitor })
  const { matches } = await ports.passwords.verify(password, stored, source)
  const open = matches && compared !== null && (await countAt(ports, compared))
  if (named && open) {
    await ports.limiter.forget('login', failures)
    return named
  }
  await ports.passwords.floor(startedAt)
  return null
}

/** Uses up one guess at that code; false when none was left. */
function countAt(ports: GuessPorts, { id }: OneTimeToken): Promise<boolean> {
  return ports.oneTimeTokens.countTry(id, ports.policy.codeTries)
}

/** The hash of the password that can confirm the token; null for a decoy, or if the user signs in without a password. */
async function passwordHashOf(ports: GuessPorts, token: OneTimeToken): Promise<string | null> {
  if (token.purpose === 'registration') return readApplicant(ports, token)?.passwordHash ?? null
  const user = token.userId === null ? null : await ports.users.findById(token.userId)
  return user?.passwordHash ?? null
}

function anyOf(ports: Pick<Ports, 'random'>, tokens: readonly OneTimeToken[]): OneTimeToken | null {
  return tokens[Number(ports.random.code(6)) % tokens.length] ?? null
}

type FindPorts = Pick<Ports, 'oneTimeTokens' | 'keyring' | 'clock'>

const purposes = ['registration', 'email_verification'] as const

/** The live token of a mailed link, or null. Looking does not use it up. */
export async function findByLink(ports: FindPorts, secret: string): Promise<OneTimeToken | null> {
  for (const purpose of purposes) {
    const hashes = ports.keyring.digests(purpose, secret)
    const token = await ports.oneTimeTokens.findByHash(purpose, hashes, ports.clock.now())
    if (token) return token
  }
  return null
}

/** The newest live token of what this browser (or client) registered, or null. */
export async function findByHandle(ports: FindPorts, handle: string | null): Promise<OneTimeToken | null> {
  if (handle === null) return null
  const hashes = ports.keyring.digests('registration-handle', handle)
  for (const purpose of purposes) {
    const [newest] = await ports.oneTimeTokens.listByHandle(purpose, hashes, ports.clock.now())
    if (newest) return newest
  }
  return null
}

/** The live tokens of an address (canonical). */
export async function listByEmail(ports: FindPorts, email: string): Promise<OneTimeToken[]> {
  const now = ports.clock.now()
  const lists = await Promise.all(purposes.map((purpose) => ports.oneTimeTokens.listByEmail(purpose, email, now)))
  return lists.flat()
}

/** The state of a mailed link in this browser: invalid, registered here, or registered in another browser. */
export type LinkStanding = 'invalid' | 'own' | 'foreign'

/** Reads only: looking at a link does not use it up. */
export async function findLinkStanding(
  ports: FindPorts,
  input: { token: string; handle: string | null },
): Promise<LinkStanding> {
  const token = await findByLink(ports, input.token)
  if (token === null) return 'invalid'
  return holdsHandle(ports, token, input.handle) ? 'own' : 'foreign'
}
