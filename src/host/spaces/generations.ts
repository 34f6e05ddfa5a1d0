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
  findDrafts,
  generationFile,
  hasGeneration,
  removeDrafts,
  removeGenerations,
  syncDraft,
} from '../folder/generation-files.js'
import type { HostLimits } from '../settings/limits.js'
import type { GenerationPlaces } from '../storage/generation-places.js'
import type { StoragePlace } from '../storage/messages.js'
import { type DataServer, serveData } from '../storage/server.js'
import type { SpaceData } from '../storage/space.js'
import { createDataThreads, type DataThreads, type DataThreadsOptions } from '../storage/threads.js'

interface SpacesDataOptions extends Pick<DataThreadsOptions, 'world' | 'program'> {
  folder: Pick<Folder, 'spaces'>
  disk: Pick<Disk, 'mayWrite'>
  /** null: files in the folder. */
  schemas: GenerationPlaces | null
  limits: Pick<HostLimits, 'spaceBytes' | 'documentBytes' | 'depth' | 'indexes'>
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
  /** The space has been used: data that is missing was lost, and is not made anew. */
  expectData(spaceId: string): void
  /** The space is gone: its files and schemas may be removed. */
  remove(spaceId: string): Promise<void>
  close(): Promise<void>
}

interface OpenGeneration {
  generation: number
  data: Promise<SpaceData>
}

type OpenPlace = (spaceId: string, place: StoragePlace) => Promise<SpaceData>

export function openSpacesData({ folder, disk, schemas, limits, logger, ...options }: SpacesDataOptions): SpacesData {
  const threads = createDataThreads({
    ...options,
    // The disk of a database server is not that of the host.
    mayWrite: () => schemas !== null || disk.mayWrite(),
    onFault: (fault) => logger.error({ event: 'space_data', ...fault }, 'The data of a space could not be used.'),
  })
  const places = schemas ?? filePlaces(folder.spaces)
  const { spaceBytes: quotaBytes, documentBytes, depth, indexes } = limits
  const openPlace: OpenPlace = (spaceId, place) =>
    threads.open({ spaceId, ...place, quotaBytes, documentBytes, depth, indexes })
  return { ...livingGenerations(threads, openPlace, places), ...otherGenerations(openPlace, places) }
}

type Living = Pick<SpacesData, 'serve' | 'open' | 'expectData' | 'refuse' | 'allow' | 'remove' | 'close'>

/** Those in force, one a space. */
function livingGenerations(threads: DataThreads, openPlace: OpenPlace, places: GenerationPlaces): Living {
  const opened = openedGenerations(openPlace, places)
  const refused = new Set<string>()
  const removed = new Set<string>()
  const servers = new Map<string, Set<DataServer>>()
  const keyOf = (spaceId: string, generation: number) => `${spaceId}/${generation}`

  /** A child that was started with the facts of before may ask for a generation that is over. */
  function requireAllowed(spaceId: string, generation: number): void {
    // A request that has found the space before would make its data anew, for good.
    if (removed.has(spaceId)) throw new StoreError('store_unavailable', 'This space was removed.')
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
    expectData: opened.expectData,
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
    remove(spaceId) {
      removed.add(spaceId)
      return opened.close(spaceId)
    },
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

interface OpenedGenerations extends Pick<SpacesData, 'expectData'> {
  /** Closes another generation of the space that is open. A file that could not be opened is tried again at the next start. */
  get(spaceId: string, generation: number): Promise<SpaceData>
  /** @param generation default: whichever is open */
  close(spaceId: string, generation?: number): Promise<void>
}

function openedGenerations(openPlace: OpenPlace, places: GenerationPlaces): OpenedGenerations {
  const opened = new Map<string, OpenGeneration>()
  const expected = new Set<string>()

  async function openLiving(spaceId: string, generation: number): Promise<SpaceData> {
    await places.adoptDraft(spaceId, generation)
    // Only the first one of a new space is made by opening it.
    if (generation > 1 || expected.has(spaceId)) await requireGeneration(places, spaceId, generation)
    return openPlace(spaceId, await places.living(spaceId, generation))
  }

  async function close(spaceId: string, generation?: number): Promise<void> {
    const known = opened.get(spaceId)
    if (!known || (generation !== undefined && known.generation !== generation)) return
    opened.delete(spaceId)
    await known.data.then((data) => data.close()).catch(() => {})
  }

  return {
    close,
    expectData: (spaceId) => void expected.add(spaceId),
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
function otherGenerations(openPlace: OpenPlace, places: GenerationPlaces): Others {
  const { syncDraft, adoptDraft, drafts, removeDrafts, removeGenerations, isShared } = places
  return {
    ...{ syncDraft, adoptDraft, drafts, removeDrafts, removeGenerations, isShared },
    draft: async (spaceId, generation) => openPlace(spaceId, await places.draft(spaceId, generation)),
    async raiseVersions(spaceId, generation, above) {
      await requireGeneration(places, spaceId, generation)
      const data = await openPlace(spaceId, await places.living(spaceId, generation))
      await data.versions(above).finally(() => data.close())
    },
  }
}

/** Opening a missing generation would make an empty one. @throws {StoreError} `store_unavailable` */
async function requireGeneration(places: GenerationPlaces, spaceId: string, generation: number): Promise<void> {
  if (await places.has(spaceId, generation)) return
  const cure = 'Put it back from a copy, or restore a backup.'
  throw new StoreError('store_unavailable', `The data g${generation} of this space is missing. ${cure}`)
}

/** Files in the folder of each space. @param folder with a folder for each space */
function filePlaces(folder: string): GenerationPlaces {
  const folderOf = (spaceId: string) => join(folder, spaceId)

  async function made(spaceId: string): Promise<string> {
    await mkdir(folderOf(spaceId), { recursive: true, mode: 0o700 })
    return folderOf(spaceId)
  }

  return {
    living: async (spaceId, generation) => ({ file: generationFile(await made(spaceId), generation) }),
    draft: async (spaceId, generation) => ({ file: draftFile(await made(spaceId), generation) }),
    has: (spaceId, generation) => hasGeneration(folderOf(spaceId), generation),
    syncDraft: (spaceId, generation) => syncDraft(folderOf(spaceId), generation),
    adoptDraft: (spaceId, generation) => adoptDraft(folderOf(spaceId), generation),
    drafts: (spaceId) => findDrafts(folderOf(spaceId)),
    removeDrafts: (spaceId, isOver) => removeDrafts(folderOf(spaceId), isOver),
    // The lock of the folder keeps every other host out.
    isShared: false,
    removeGenerations: (spaceId, isOver) => removeGenerations(folderOf(spaceId), isOver),
  }
}
