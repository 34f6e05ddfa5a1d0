import type { OneTimeToken } from '../model/one-time-token.js'
import type { Ports } from '../ports.js'
import { matchesCode } from './mailed-code.js'
import { holdsHandle } from './registration.js'

type FindPorts = Pick<Ports, 'oneTimeTokens' | 'keyring' | 'clock' | 'policy'>

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

/** A code counts only with the browser's handle or the password; every guess counts on every token it could open. */
export async function findByCode(
  ports: FindPorts,
  live: readonly OneTimeToken[],
  input: { code?: string; password: string | null; handle: string | null },
): Promise<OneTimeToken | null> {
  const own = live.filter((token) => holdsHandle(ports, token, input.handle))
  const candidates = own.length > 0 || input.password === null ? own : live

  let found: OneTimeToken | null = null
  for (const token of candidates) {
    const counted = await ports.oneTimeTokens.countTry(token.id, ports.policy.codeTries)
    if (counted && matchesCode(ports, token, input.code ?? '')) found ??= token
  }
  return found
}

/** Whether this browser is the one that asked for that link; reads only. */
export async function ownsVerification(ports: FindPorts, input: { token: string; handle: string }): Promise<boolean> {
  const token = await findByLink(ports, input.token)
  return token !== null && holdsHandle(ports, token, input.handle)
}
