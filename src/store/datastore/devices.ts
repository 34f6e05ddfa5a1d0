import { toDevice, toDeviceRow } from '../device-rows.js'
import type { Devices } from '../devices.js'
import { surplus } from '../surplus.js'
import type { Steps } from './engine/steps.js'
import { devices } from './engine/tables.js'
import { removeDue } from './prune.js'

export function createDevices(steps: Steps): Devices {
  return {
    async find(tokenHashes, now) {
      if (tokenHashes.length === 0) return null
      const rows = await steps.glance((view) => view.find(devices, { token_hash: { in: tokenHashes } }))
      const live = rows.find(({ expires_at }) => expires_at > now)
      return live ? toDevice(live) : null
    },

    add: (device, { keep, now }) =>
      steps.step(async (unit) => {
        unit.remove(devices, await unit.find(devices, { expires_at: { lte: now } }, { limit: expiredAtOnce }))
        // Oldest by its end: that moves on with every sign-in.
        const newestFirst = { expires_at: -1, ordinal: -1 } as const
        const others = await unit.find(devices, { user_id: device.userId }, { sort: newestFirst })
        unit.remove(devices, surplus(others, keep))
        unit.put(devices, toDeviceRow(device, unit))
      }),

    renew: (id, tokenHash, expiresAt) =>
      steps.step(async (unit) => {
        const row = await unit.get(devices, id)
        if (row) unit.put(devices, { ...row, token_hash: tokenHash, expires_at: expiresAt })
      }),

    prune: (now, count) =>
      removeDue(steps, devices, (view) =>
        view.find(devices, { expires_at: { lte: now } }, { sort: { expires_at: 1 }, limit: count }),
      ),
  }
}

/** Of those that a step finds on its way; the rest is left to housekeeping. */
export const expiredAtOnce = 20
