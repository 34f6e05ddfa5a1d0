import type { RandomSource } from '../../lib/random.js'
import type { World } from '../../lib/runtime.js'
import type { Logger } from '../../settings.js'
import type { HostParts, HostRunning } from '../../wiring/for-host.js'
import type { Isolation } from '../children/isolation.js'
import type { DeployedCode, SpaceBackup } from '../doctor/host-checks.js'
import type { Disk } from '../folder/disk.js'
import type { Folder } from '../folder/folder.js'
import type { SpaceDirectory } from '../front/space.js'
import type { MasterKeys } from '../sealing/master-keys.js'
import type { HostSettings } from '../settings/host-settings.js'

/** What the spaces stand on. */
export interface SpacesGround<Nouns> {
  running: HostRunning<Nouns>
  settings: HostSettings
  folder: Folder
  masterKeys: MasterKeys
  disk: Pick<Disk, 'mayWrite'>
  world: World
  random: RandomSource
  logger: Logger
}

export interface OpenSpaces {
  directory: SpaceDirectory
  /** For the control API. */
  find: HostParts<never>['findSpace']
  /** Names of the spaces that are down because they crashed too often. */
  crashed(): Promise<readonly string[]>
  /** How applications are kept apart. */
  isolation: Pick<Isolation, 'mode' | 'absent'>
  deployed(): Promise<readonly DeployedCode[]>
  backups(): Promise<readonly SpaceBackup[]>
  /** Ends the processes of all spaces; their running requests are answered by then. */
  close(): Promise<void>
}
