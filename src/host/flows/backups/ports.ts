import type { SpaceName } from '../../../model/visitor.js'
import type { Ports } from '../../../ports.js'
import type { MasterKeys } from '../../sealing/master-keys.js'
import type { HostLimits } from '../../settings/limits.js'
import type { SpaceData } from '../../storage/space.js'
import type { SpacePorts } from '../spaces/ports.js'

/** What exports, backups and restores may reach. */
export interface BackupPorts extends SpacePorts, Pick<Ports, 'audit' | 'keyring'> {
  data: GenerationFiles
  dataLimits: Pick<HostLimits, 'spaceBytes' | 'documentBytes'>
  /** Tokens, key set and allow-list of a space. */
  accessOf(space: SpaceName): Pick<Ports, 'apiTokens' | 'accessSettings' | 'policy'>
  signer: Pick<MasterKeys, 'sign' | 'verify'>
}

/** The files that hold the data of spaces. Each is a generation; one of a space is in force. */
export interface GenerationFiles {
  /**
   * The data in force, whether the application runs or not.
   *
   * @throws {StoreError} `store_unavailable`
   */
  open(spaceId: string, generation: number): Promise<SpaceData>
  /**
   * From now on no child reaches this generation, and nothing that `open` gave is usable. Calls under way have ended when this
   * resolves.
   */
  refuse(spaceId: string, generation: number): Promise<void>
  /** Takes `refuse` back: the generation is in force. */
  allow(spaceId: string, generation: number): void
  /** A new generation, to be filled. Close it before `syncDraft`. */
  draft(spaceId: string, generation: number): Promise<SpaceData>
  syncDraft(spaceId: string, generation: number): Promise<void>
  /** The generation is in force: its draft, if there still is one, becomes the file. `open` does the same. */
  adoptDraft(spaceId: string, generation: number): Promise<void>
  /** The generations whose drafts are there. */
  drafts(spaceId: string): Promise<number[]>
  removeDrafts(spaceId: string, isOver?: (generation: number) => boolean): Promise<void>
  /** Other hosts keep generations in the same place. */
  isShared: boolean
  /** In a generation that is there and not open: its next version is greater than `above`. @throws {StoreError} */
  raiseVersions(spaceId: string, generation: number, above: number): Promise<void>
  removeGenerations(spaceId: string, isOver: (generation: number) => boolean): Promise<void>
}
