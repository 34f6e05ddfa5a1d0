import { deriveKeyId } from '../../lib/digest.js'
import { openBytes, sealBytes } from '../../lib/keyring.js'
import { newKey } from '../../lib/random.js'
import type { SealedVariable, SpaceKey } from '../ports.js'
import type { MasterKeys } from './master-keys.js'
import { keyIdOf, SealingError, sealedPartOf } from './sealing-error.js'

/** A data key, opened. It seals the values of one space. */
export interface DataKey {
  /** Reveals nothing about the key. */
  readonly id: string
  seal(name: string, version: number, value: string): SealedVariable
  /** @throws {SealingError} `data_key_missing`, `row_changed` */
  open(variable: SealedVariable): string
}

/** Makes the data key of a space, wrapped by the first master key. */
export function createSpaceKey(keys: MasterKeys, space: string): SpaceKey {
  return { space, wrapped: keys.wrap(space, newKey()) }
}

/** @throws {SealingError} `master_key_missing`, `row_changed` */
export function openSpaceKey(keys: MasterKeys, { space, wrapped }: SpaceKey): DataKey {
  const key = keys.unwrap(space, wrapped)
  const id = deriveKeyId(key.toString('base64'), 'latchkey/data-key-id')
  const contextOf = (name: string, version: number) => ['variable', space, name, String(version)]

  return {
    id,
    seal: (name, version, value) => ({
      name,
      version,
      sealed: `${id}.${sealBytes(key, contextOf(name, version), Buffer.from(value))}`,
    }),
    open({ name, version, sealed }) {
      const cure = `Set it again: latchkey set-env ${name}`
      const keyId = keyIdOf(sealed)
      if (keyId !== id) {
        const message = `${name} is sealed under the data key ${keyId}, which this space no longer has. ${cure}`
        throw new SealingError('data_key_missing', keyId, message)
      }
      const value = openBytes(key, contextOf(name, version), sealedPartOf(sealed))
      if (value) return value.toString('utf8')
      const message = `${name} does not open: its row was changed, or belongs to another space. ${cure}`
      throw new SealingError('row_changed', null, message)
    },
  }
}
