import type { Ports } from '../../../ports.js'
import type { Spool } from '../../folder/spool.js'
import type { SpaceFiles } from '../../ports.js'
import type { SpaceData } from '../../storage/space.js'
import type { Spaces } from '../../store/spaces.js'
import type { Workers } from '../../workers/workers.js'
import type { Uploads } from '../spaces/uploads.js'

/** What flows about the documents of a space may reach. */
export interface CollectionPorts extends Pick<Ports, 'audit' | 'clock' | 'random'> {
  spaces: Spaces
  files: Pick<SpaceFiles, 'isFull'>
  /**
   * The documents of a space, whether its application runs or not.
   *
   * @throws {StoreError} `store_unavailable` when they cannot be opened
   */
  open(space: { id: string; generation: number }): Promise<SpaceData>
  workers: Pick<Workers, 'start'>
  /**
   * Notes that a space builds indexes, until the result is called.
   *
   * @throws {AuthError} `space_busy` while it does already
   */
  enterBuild(spaceId: string): () => void
  uploads: Uploads
  /** Receives an upload whole. @param id of no other upload */
  spool(id: string, upload: AsyncIterable<Uint8Array>): Promise<Spool>
  /** Bytes at most of an upload, and of all that one caller sends at once. */
  uploadBytes: number
}
