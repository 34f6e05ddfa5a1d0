import { coarseNetwork } from '../../lib/ip-address.js'
import type { Device } from '../../model/device-approval.js'
import type { SessionMode } from '../../model/session.js'
import type { UserRecord } from '../../model/user.js'
import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'

export type DevicePorts = Pick<Ports, 'devices' | 'keyring' | 'clock' | 'random'>

/** How long a browser is known after its last sign-in. */
export const deviceSeconds = 180 * 24 * 60 * 60

/** The most known browsers of one user. */
const devicesPerUser = 50

/** The device with this secret, or null. It names its user. */
export async function findDevice(
  ports: Pick<Ports, 'devices' | 'keyring' | 'clock'>,
  token: string | null,
): Promise<Device | null> {
  if (token === null) return null
  return ports.devices.find(ports.keyring.digests('device', token), ports.clock.now())
}

/** The device with this secret, if it is one of that user's. */
export async function findDeviceOf(
  ports: Pick<Ports, 'devices' | 'keyring' | 'clock'>,
  userId: string,
  token: string | null,
): Promise<Device | null> {
  const device = await findDevice(ports, token)
  return device?.userId === userId ? device : null
}

/**
 * Whether the user has signed in from here before: a known browser by its secret, a client without cookies by a live session
 * of the same user agent from the same network.
 */
export async function isKnownPlace(
  ports: Pick<Ports, 'sessions' | 'clock'>,
  { user, mode, visitor }: { user: UserRecord; mode: SessionMode; visitor: Visitor },
  device: Device | null,
): Promise<boolean> {
  if (mode === 'cookie') return device?.userId === user.id
  const live = await ports.sessions.list(user.id, ports.clock.now())
  const network = coarseNetwork(visitor.ip)
  // An administrator who impersonates the user signs in from a place of their own.
  const own = live.filter(({ actor }) => actor === null)
  return own.some(({ userAgent, ip }) => userAgent === visitor.userAgent && coarseNetwork(ip) === network)
}

/**
 * Remembers the browser that has just signed in, and returns the secret for its cookie. A secret of this user is renewed
 * (`known` is its device). Null for a client without cookies. The secret gives no access: it only separates the browser's
 * failed tries from those of others, and known devices from new ones.
 */
export async function rememberDevice(
  ports: DevicePorts,
  userId: string,
  { mode, device: brought }: { mode: SessionMode; device: string | null },
  known: Device | null,
): Promise<string | null> {
  if (mode === 'token') return null
  const now = ports.clock.now()
  const expiresAt = now + deviceSeconds
  if (known && brought !== null && known.userId === userId) {
    await ports.devices.renew(known.id, ports.keyring.digest('device', brought), expiresAt)
    return brought
  }
  const token = ports.random.token()
  const tokenHash = ports.keyring.digest('device', token)
  const device = { id: ports.random.id(), userId, tokenHash, createdAt: now, expiresAt }
  await ports.devices.add(device, { keep: devicesPerUser, now })
  return token
}
