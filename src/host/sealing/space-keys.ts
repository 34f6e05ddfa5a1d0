import { deriveKeyId } from '../../lib/digest.js'
import { openBytes, sealBytes } from '../../lib/keyring.js'
import { newKey } from '../../lib/random.js'
import type { SealedVariable, Sealer, SpaceKey } from '../ports.js'
import { keyIdOf, type MasterKeys, SealingError, sealedPartOf, wrappingKeyOf } from './master-keys.js'

/** A data key, opened. It seals the values of one space. */
interface DataKey {
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

/**
 * Wraps data keys again, under the first master key. Returns the rows that changed: write them in one transaction. Until then,
 * and after it, all given master keys together open every row.
 *
 * @throws {SealingError} `master_key_missing`, `row_changed`; then no row is to be written
 */
export function rewrap(keys: MasterKeys, rows: readonly SpaceKey[]): SpaceKey[] {
  return rows
    .filter(({ wrapped }) => wrappingKeyOf(wrapped) !== keys.ids[0])
    .map(({ space, wrapped }) => ({ space, wrapped: keys.wrap(space, keys.unwrap(space, wrapped)) }))
}

/**
 * Makes a new data key for a space and seals its values again. Names and versions stay. Write the result in the transaction that
 * has read the rows, because the former key is gone with it.
 *
 * @throws {SealingError} `master_key_missing`, `data_key_missing`, `row_changed`
 */
export function reseal(
  keys: MasterKeys,
  former: SpaceKey,
  variables: readonly SealedVariable[],
): { key: SpaceKey; variables: SealedVariable[] } {
  const from = openSpaceKey(keys, former)
  const key = createSpaceKey(keys, former.space)
  const to = openSpaceKey(keys, key)
  return { key, variables: variables.map((each) => to.seal(each.name, each.version, from.open(each))) }
}

/** @param keys the master keys as they are now: the file may get another line while the host runs */
export function createSealer(keys: () => MasterKeys): Sealer {
  return {
    newKey: (spaceId) => createSpaceKey(keys(), spaceId),
    seal: (key, { name, version, value }) => openSpaceKey(keys(), key).seal(name, version, value),
    open: (key, variable) => openSpaceKey(keys(), key).open(variable),
  }
}
