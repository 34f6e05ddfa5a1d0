import { statfs } from 'node:fs/promises'
import type { World } from '../../lib/runtime.js'
import type { Logger } from '../../settings.js'

/** Whether the disk of the host has room for what spaces write. */
export interface Disk {
  /**
   * False while less than 1 GiB or 5 % is free, or the disk cannot be read. Spaces, uploads and logs then write nothing; what
   * is left is for `host.db`, so that access can always be revoked.
   */
  mayWrite(): boolean
  close(): void
}

/** The size of a disk, in bytes. */
export interface DiskSpace {
  free: number
  total: number
}

export interface DiskOptions {
  /** A folder on the disk. */
  path: string
  timer: World['timer']
  logger: Logger
  /** Default: asks the file system. */
  read?: (path: string) => Promise<DiskSpace>
}

const everyMs = 5_000
const leastBytes = 1024 ** 3
const leastShare = 0.05

/** Watches the disk. The first check is done when this resolves. */
export async function watchDisk({ path, timer, logger, read = readSpace }: DiskOptions): Promise<Disk> {
  let state: 'enough' | 'low' | 'unknown' = 'enough'
  let closed = false
  let cancel = () => {}

  async function check(): Promise<void> {
    const space = await read(path).catch(() => null)
    const before = state
    state = space === null ? 'unknown' : isLow(space) ? 'low' : 'enough'
    if (state !== before) report(logger, state, space)
    if (!closed) cancel = timer(everyMs, () => void check())
  }

  await check()
  return {
    mayWrite: () => state === 'enough',
    close() {
      closed = true
      cancel()
    },
  }
}

/** Whether so little is free that only the host's own database may still write. */
export function isLow({ free, total }: DiskSpace): boolean {
  return free < leastBytes || free < total * leastShare
}

/** What this user may still use: file systems keep some blocks for root. */
export async function readSpace(path: string): Promise<DiskSpace> {
  const { bavail, blocks, bsize } = await statfs(path)
  return { free: bavail * bsize, total: blocks * bsize }
}

function report(logger: Logger, state: 'enough' | 'low' | 'unknown', space: DiskSpace | null): void {
  const fields = { event: 'disk_low', state, freeBytes: space?.free ?? null }
  if (state === 'enough') logger.warn(fields, 'The disk has room again: spaces may write.')
  else logger.error(fields, 'The disk is nearly full or cannot be read: spaces, uploads and logs may not write.')
}
