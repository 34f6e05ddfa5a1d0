import type { Device } from '../../model/device.js'
import { toDevice, toDeviceRow } from '../device-rows.js'
import type { Devices } from '../devices.js'
import { surplus } from '../surplus.js'
import type { Steps, Unit } from './engine/steps.js'
import { prune } from './prune.js'

export function createDevices(steps: Steps): Devices {
  return {
    async find(tokenHashes, now) {
      if (tokenHashes.length === 0) return null
      const row = await steps.step((db) =>
        db
          .selectFrom('latchkey_devices')
          .selectAll()
          .where('token_hash', 'in', tokenHashes)
          .where('expires_at', '>', now)
          .executeTakeFirst(),
      )
      return row ? toDevice(row) : null
    },

    add: (device, { keep, now }) =>
      steps.transaction(async (unit) => {
        await unit.db.deleteFrom('latchkey_devices').where('expires_at', '<=', now).execute()
        await unit.db.insertInto('latchkey_devices').values(toDeviceRow(device, unit)).execute()
        await dropOldest(unit, device, keep)
      }),

    async renew(id, tokenHash, expiresAt) {
      await steps.step((db) =>
        db
          .updateTable('latchkey_devices')
          .set({ token_hash: tokenHash, expires_at: expiresAt })
          .where('id', '=', id)
          .execute(),
      )
    },

    prune: (now, count) =>
      prune(steps, 'latchkey_devices', (db) =>
        db
          .selectFrom('latchkey_devices')
          .select('id')
          .where('expires_at', '<=', now)
          .orderBy('expires_at')
          .limit(count)
          .execute(),
      ),
  }
}

/** The oldest is the one that ends first, because every sign-in moves the end. */
async function dropOldest(unit: Unit, { id, userId }: Device, keep: number): Promise<void> {
  const others = await unit.db
    .selectFrom('latchkey_devices')
    .select('id')
    .where('user_id', '=', userId)
    .where('id', '<>', id)
    .orderBy('expires_at', 'desc')
    .orderBy('ordinal', 'desc')
    .execute()
  const ids = surplus(others, keep).map((other) => other.id)
  if (ids.length === 0) return
  await unit.db.deleteFrom('latchkey_devices').where('id', 'in', ids).execute()
}
