import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from '../../settings.js'
import { StoreError } from '../documents/store-error.js'
import type { GenerationFiles } from '../flows/backups/ports.js'
import type { Disk } from '../folder/disk.js'
import type { Folder } from '../folder/folder.js'
import {
  adoptDraft,
  draftFile,
  generationFile,
  hasGeneration,
  removeDrafts,
  removeGenerations,
  syncDraft,
} from '../folder/generation-files.js'
import type { HostLimits } from '../settings/limits.js'
import { type DataServer, serveData } from '../storage/server.js'
import type { SpaceData } from '../storage/space.js'
import { createDataThreads, type DataThreads, type DataThreadsOptions } from '../storage/threads.js'

export interface SpacesDataOptions extends Pick<DataThreadsOptions, 'world' | 'program'> {
  folder: Pick<Folder, 'spaces'>
  disk: Pick<Disk, 'mayWrite'>
  limits: Pick<HostLimits, 'spaceBytes' | 'documentBytes'>
  logger: Logger
}

/** The data of all spaces. Children of one space share it: the former one while the next one starts. */
export interface SpacesData extends GenerationFiles {
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

type OpenFile = (spaceId: string, file: string) => Promise<SpaceData>

export function openSpacesData({ folder, disk, limits, logger, ...options }: SpacesDataOptions): SpacesData {
  const threads = createDataThreads({
    ...options,
    mayWrite: () => disk.mayWrite(),
    onFault: (fault) => logger.error({ event: 'space_data', ...fault }, 'The data of a space could not be used.'),
  })
  const folderOf = (spaceId: string) => join(folder.spaces, spaceId)
  const openFile: OpenFile = async (spaceId, file) => {
    await mkdir(folderOf(spaceId), { recursive: true, mode: 0o700 })
    return threads.open({ spaceId, file, quotaBytes: limits.spaceBytes, documentBytes: limits.documentBytes })
  }
  return { ...livingGenerations(threads, openFile, folderOf), ...otherGenerations(openFile, folderOf) }
}

type Living = Pick<SpacesData, 'serve' | 'open' | 'refuse' | 'allow' | 'remove' | 'close'>

/** Those in force, one a space. */
function livingGenerations(threads: DataThreads, openFile: OpenFile, folderOf: (id: string) => string): Living {
  const opened = openedGenerations(openFile, folderOf)
  const refused = new Set<string>()
  const servers = new Map<string, Set<DataServer>>()
  const keyOf = (spaceId: string, generation: number) => `${spaceId}/${generation}`

  /** A child that was started with the facts of before may ask for a generation that is over. */
  function requireAllowed(spaceId: string, generation: number): void {
    if (!refused.has(keyOf(spaceId, generation))) return
    throw new StoreError('store_unavailable', 'The data of this space was replaced. Try again shortly.')
  }

  async function open(spaceId: string, generation: number): Promise<SpaceData> {
    requireAllowed(spaceId, generation)
    const data = await opened.get(spaceId, generation)
    requireAllowed(spaceId, generation)
    return data
  }

  return {
    open,
    async serve({ spaceId, generation, socketPath, key }) {
      const server = await serveData({ data: await open(spaceId, generation), socketPath, key })
      const running = servers.get(keyOf(spaceId, generation)) ?? new Set()
      servers.set(keyOf(spaceId, generation), running.add(server))
      const listed = closedWith(server, running)
      try {
        requireAllowed(spaceId, generation)
        return listed
      } catch (error) {
        await listed.close()
        throw error
      }
    },
    async refuse(spaceId, generation) {
      refused.add(keyOf(spaceId, generation))
      await Promise.all([...(servers.get(keyOf(spaceId, generation)) ?? [])].map((server) => server.close()))
      servers.delete(keyOf(spaceId, generation))
      await opened.close(spaceId, generation)
    },
    allow: (spaceId, generation) => void refused.delete(keyOf(spaceId, generation)),
    remove: (spaceId) => opened.close(spaceId),
    close: () => threads.close(),
  }
}

/** The server, which leaves the list when it is closed. */
function closedWith(server: DataServer, running: Set<DataServer>): DataServer {
  return {
    close() {
      running.delete(server)
      return server.close()
    },
  }
}

interface OpenedGenerations {
  /** Closes another generation of the space that is open. A file that could not be opened is tried again at the next start. */
  get(spaceId: string, generation: number): Promise<SpaceData>
  /** @param generation default: whichever is open */
  close(spaceId: string, generation?: number): Promise<void>
}

function openedGenerations(openFile: OpenFile, folderOf: (id: string) => string): OpenedGenerations {
  const opened = new Map<string, OpenGeneration>()

  async function openLiving(spaceId: string, generation: number): Promise<SpaceData> {
    await adoptDraft(folderOf(spaceId), generation)
    // Only the first one is made by opening it.
    if (generation > 1) await requireFile(folderOf(spaceId), generation)
    return openFile(spaceId, generationFile(folderOf(spaceId), generation))
  }

  async function close(spaceId: string, generation?: number): Promise<void> {
    const known = opened.get(spaceId)
    if (!known || (generation !== undefined && known.generation !== generation)) return
    opened.delete(spaceId)
    await known.data.then((data) => data.close()).catch(() => {})
  }

  return {
    close,
    get(spaceId, generation) {
      const known = opened.get(spaceId)
      if (known?.generation === generation) return known.data
      void close(spaceId)
      const data = openLiving(spaceId, generation)
      opened.set(spaceId, { generation, data })
      data.catch(() => {
        if (opened.get(spaceId)?.data === data) opened.delete(spaceId)
      })
      return data
    },
  }
}

type Others = Omit<GenerationFiles, 'open' | 'refuse' | 'allow'>

/** Those that are being filled, and those that were in force. */
function otherGenerations(openFile: OpenFile, folderOf: (id: string) => string): Others {
  return {
    async draft(spaceId, generation) {
      await removeDrafts(folderOf(spaceId))
      return openFile(spaceId, draftFile(folderOf(spaceId), generation))
    },
    syncDraft: (spaceId, generation) => syncDraft(folderOf(spaceId), generation),
    adoptDraft: (spaceId, generation) => adoptDraft(folderOf(spaceId), generation),
    removeDrafts: (spaceId) => removeDrafts(folderOf(spaceId)),
    async raiseVersions(spaceId, generation, above) {
      await requireFile(folderOf(spaceId), generation)
      const data = await openFile(spaceId, generationFile(folderOf(spaceId), generation))
      await data.versions(above).finally(() => data.close())
    },
    removeGenerations: (spaceId, isOver) => removeGenerations(folderOf(spaceId), isOver),
  }
}

/** Opening a missing file would make an empty one. @throws {StoreError} `store_unavailable` */
async function requireFile(own: string, generation: number): Promise<void> {
  if (await hasGeneration(own, generation)) return
  const cure = 'Put it back from a copy, or restore a backup.'
  throw new StoreError('store_unavailable', `The file g${generation}.db of this space is missing. ${cure}`)
}
