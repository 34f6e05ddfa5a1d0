import { mkdir, rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import type { SpaceFiles } from '../ports.js'

/** From when on a disk counts as full. */
export interface DiskMark {
  /** Free bytes. */
  bytes: number
  /** Free share of the disk, 0 to 1. */
  share: number
}

const defaultMark: DiskMark = { bytes: 1024 ** 3, share: 0.05 }

/** @param data the host's folder */
export function createSpaceFiles(data: string, mark: DiskMark = defaultMark): SpaceFiles {
  const spaces = join(data, 'spaces')
  const releases = (spaceId: string) => join(spaces, spaceId, 'releases')
  return {
    async releases(spaceId) {
      const folder = releases(spaceId)
      await mkdir(folder, { recursive: true, mode: 0o700 })
      return folder
    },
    release: (spaceId, number) => join(releases(spaceId), String(number)),
    temporary: (spaceId) => join(spaces, spaceId, 'tmp'),
    remove: (spaceId) => rm(join(spaces, spaceId), { recursive: true, force: true }),
    async isFull() {
      const { bavail, blocks, bsize } = await statfs(data)
      return bavail * bsize < mark.bytes || bavail < blocks * mark.share
    },
  }
}
