import type { Device } from '../model/device-approval.js'
import type { DevicesTable } from './rows.js'
import { surplus } from './surplus.js'
import { devices } from './tables.js'
import type { Steps } from './unit.js'

/** Browsers that have signed in before. If a digest's key is gone, its device is unknown, so devices keep no key in use. */
export interface Devices {
  /** The live device with one of these digests, or null. */
  find(tokenHashes: readonly string[], now: number): Promise<Device | null>

  /** Adds a device; drops the user's oldest beyond `keep`, and expired ones as it finds them. */
  add(device: Device, options: { keep: number; now: number }): Promise<void>

  /** Gives a device a new end, and its secret a new digest. Does nothing if the device is gone. */
  renew(id: string, tokenHash: string, expiresAt: number): Promise<void>

  /** Forgets up to `count` expired devices; returns how many. */
  prune(now: number, count: number): Promise<number>
}

/** Expired rows that a step removes on its way. Housekeeping removes the others. */
export const expiredAtOnce = 20

export function createDevices(steps: Steps): Devices {
  return {
    find: (tokenHashes, now) =>
      steps.glance(async (view) => {
        const query = { token_hash: { in: tokenHashes }, expires_at: { gt: now } }
        const [live] = await view.find(devices, query, { limit: 1 })
        return live ? toDevice(live) : null
      }),

    add: (device, { keep, now }) =>
      steps.transaction(async (unit) => {
        await unit.put(devices, toDeviceRow(device, unit))
        const expired = await unit.find(devices, { expires_at: { lte: now } }, { limit: expiredAtOnce, lock: true })
        // The oldest is the one that ends first, because every sign-in moves the end.
        const newestFirst = { expires_at: -1, ordinal: -1 } as const
        const own = await unit.find(devices, { user_id: device.userId }, { sort: newestFirst })
        const others = own.filter(({ id, expires_at }) => id !== device.id && expires_at > now)
        await unit.remove(devices, [...expired, ...surplus(others, keep)])
      }),

    async renew(id, tokenHash, expiresAt) {
      await steps.write(devices, { query: { id }, set: { token_hash: tokenHash, expires_at: expiresAt } })
    },

    prune: (now, limit) => steps.removeDue(devices, { expires_at: { lte: now } }, { sort: { expires_at: 1 }, limit }),
  }
}

function toDeviceRow(device: Device, unit: { ordinal(): number }): DevicesTable {
  return {
    id: device.id,
    ordinal: unit.ordinal(),
    user_id: device.userId,
    token_hash: device.tokenHash,
    created_at: device.createdAt,
    expires_at: device.expiresAt,
  }
}

function toDevice(row: DevicesTable): Device {
  return {
    id: row.id,
    userId: row.user_id,
    tokenHash: row.token_hash,
    createdAt: Number(row.created_at),
    expiresAt: Number(row.expires_at),
  }
}
