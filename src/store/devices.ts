import type { Device } from '../model/device.js'

/** Browsers that have signed in before. A digest whose key is gone is an unknown device, so it keeps no key in use. */
export interface Devices {
  /** The live device with one of these digests, or null. */
  find(tokenHashes: readonly string[], now: number): Promise<Device | null>

  /** Adds a device; drops the user's oldest beyond `keep`, and every expired one. */
  add(device: Device, options: { keep: number; now: number }): Promise<void>

  /** Gives a device a new end, and its secret a new digest. Nothing happens when it is gone. */
  renew(id: string, tokenHash: string, expiresAt: number): Promise<void>

  /** Forgets up to `count` expired devices; returns how many. */
  prune(now: number, count: number): Promise<number>
}
