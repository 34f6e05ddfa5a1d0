import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Logger } from '../../settings.js'
import type { Disk } from '../folder/disk.js'
import type { Folder } from '../folder/folder.js'
import type { HostLimits } from '../settings/limits.js'
import { type DataServer, serveData } from '../storage/server.js'
import type { SpaceData } from '../storage/space.js'
import { createDataThreads, type DataThreadsOptions } from '../storage/threads.js'

export interface SpacesDataOptions extends Pick<DataThreadsOptions, 'world' | 'program'> {
  folder: Pick<Folder, 'spaces'>
  disk: Pick<Disk, 'mayWrite'>
  limits: Pick<HostLimits, 'spaceBytes' | 'documentBytes'>
  logger: Logger
}

/** The data of all spaces. Children of one space share it: the former one while the next one starts. */
export interface SpacesData {
  /** Serves the data of a space on this socket, to requests that have the key. */
  serve(place: { spaceId: string; generation: number; socketPath: string; key: string }): Promise<DataServer>
  /**
   * The data of a space for the host itself.
   *
   * @throws {StoreError} `store_unavailable`
   */
  open(spaceId: string, generation: number): Promise<SpaceData>
  /** The space is gone: its files may be removed. */
  remove(spaceId: string): Promise<void>
  close(): Promise<void>
}

interface OpenGeneration {
  generation: number
  data: Promise<SpaceData>
}

export function openSpacesData({ folder, disk, limits, logger, ...options }: SpacesDataOptions): SpacesData {
  const threads = createDataThreads({
    ...options,
    mayWrite: () => disk.mayWrite(),
    onFault: (fault) => logger.error({ event: 'space_data', ...fault }, 'The data of a space could not be used.'),
  })
  const opened = new Map<string, OpenGeneration>()

  async function openFile(spaceId: string, generation: number): Promise<SpaceData> {
    const file = join(folder.spaces, spaceId, `g${generation}.db`)
    await mkdir(dirname(file), { recursive: true, mode: 0o700 })
    return threads.open({ spaceId, file, quotaBytes: limits.spaceBytes, documentBytes: limits.documentBytes })
  }

  /** A file that could not be opened is tried again at the next start. */
  function dataOf(spaceId: string, generation: number): Promise<SpaceData> {
    const known = opened.get(spaceId)
    if (known?.generation === generation) return known.data
    const data = openFile(spaceId, generation)
    opened.set(spaceId, { generation, data })
    data.catch(() => {
      if (opened.get(spaceId)?.data === data) opened.delete(spaceId)
    })
    return data
  }

  return {
    serve: async ({ spaceId, generation, socketPath, key }) =>
      serveData({ data: await dataOf(spaceId, generation), socketPath, key }),
    open: dataOf,
    async remove(spaceId) {
      const known = opened.get(spaceId)
      opened.delete(spaceId)
      await known?.data.then((data) => data.close()).catch(() => {})
    },
    close: () => threads.close(),
  }
}
