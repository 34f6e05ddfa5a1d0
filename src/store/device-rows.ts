import type { Device } from '../model/device.js'
import type { DevicesTable } from './rows.js'

export function toDeviceRow(device: Device, unit: { ordinal(): number }): DevicesTable {
  return {
    id: device.id,
    ordinal: unit.ordinal(),
    user_id: device.userId,
    token_hash: device.tokenHash,
    created_at: device.createdAt,
    expires_at: device.expiresAt,
  }
}

export function toDevice(row: DevicesTable): Device {
  return {
    id: row.id,
    userId: row.user_id,
    tokenHash: row.token_hash,
    createdAt: Number(row.created_at),
    expiresAt: Number(row.expires_at),
  }
}
