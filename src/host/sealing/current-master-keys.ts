import { type MasterKeys, wrappingKeyOf } from './master-keys.js'

/**
 * The master keys of a running host whose file may get another line: the tool adds one, and wraps the data keys again.
 *
 * They are read again before a new data key is wrapped or a backup is signed, which is rare, and when an unknown one is named. So after
 * a rotation nothing is wrapped under the former key, whose line the operator then removes.
 *
 * @param reread null when the file cannot be read now; then the known keys stay
 */
export function currentMasterKeys(keys: MasterKeys, reread: () => MasterKeys | null): MasterKeys {
  let current = keys
  return {
    get ids() {
      return current.ids
    },
    wrap(space, dataKey) {
      current = reread() ?? current
      return current.wrap(space, dataKey)
    },
    sign(text) {
      current = reread() ?? current
      return current.sign(text)
    },
    verify(text, signature) {
      if (!current.ids.includes(signature.keyId)) current = reread() ?? current
      return current.verify(text, signature)
    },
    unwrap(space, wrapped) {
      if (!current.ids.includes(wrappingKeyOf(wrapped))) current = reread() ?? current
      return current.unwrap(space, wrapped)
    },
  }
}
