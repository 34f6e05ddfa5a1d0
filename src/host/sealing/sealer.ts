import type { Sealer } from '../ports.js'
import type { MasterKeys } from './master-keys.js'
import { createSpaceKey, openSpaceKey } from './space-keys.js'

/** @param keys the master keys as they are now: the file may get another line while the host runs */
export function createSealer(keys: () => MasterKeys): Sealer {
  return {
    newKey: (spaceId) => createSpaceKey(keys(), spaceId),
    seal: (key, { name, version, value }) => openSpaceKey(keys(), key).seal(name, version, value),
    open: (key, variable) => openSpaceKey(keys(), key).open(variable),
  }
}
