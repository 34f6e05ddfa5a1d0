import type { OneTimeToken } from '../../model/one-time-token.js'
import type { Ports } from '../../ports.js'
import { holdsHandle } from './draft.js'

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
