import type { Device } from '../model/device.js'

/** Browsers that have signed in before. If a digest's key is gone, its device is unknown, so devices keep no key in use. */
export interface Devices {
  /** The live device with one of these digests, or null. */
  find(tokenHashes: readonly string[], now: number): Promise<Device | null>

  /** Adds a device; drops the user's oldest beyond `keep`, and every expired one. */
  add(device: Device, options: { keep: number; now: number }): Promise<void>

  /** Gives a device a new end, and its secret a new digest. Does nothing if the device is gone. */
  renew(id: string, tokenHash: string, expiresAt: number): Promise<void>

  /** Forgets up to `count` expired devices; returns how many. */
  prune(now: number, count: number): Promise<number>
}
