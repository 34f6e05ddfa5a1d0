import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { SpaceFiles } from '../ports.js'

/** @param data the host's folder */
export function createSpaceFiles(data: string, disk: { mayWrite(): boolean }): SpaceFiles {
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
    isFull: () => !disk.mayWrite(),
  }
}
