import type { SealedVariable, SpaceKey } from '../ports.js'
import { type MasterKeys, wrappingKeyOf } from './master-keys.js'
import { createSpaceKey, openSpaceKey } from './space-keys.js'

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
