import { addMasterKey, createMasterKeyFile, readMasterKeyFile, rereadMasterKeyFile } from './master-key-file.js'
import { type MasterKeys, masterKeyFault, parseMasterKeys, requireMasterKeys, wrappingKeyOf } from './master-keys.js'

/** Where the master key comes from: the first that is given. */
interface MasterKeySource {
  /** The text of `LATCHKEY_MASTER_KEY` or of `masterKey`: one key a line. */
  given: string | null
  /** A file that the operator names. */
  file: string | null
  /** The host's own file, made at the first start. */
  own: string
}

/**
 * Opens the master keys and checks that they are those of the database.
 *
 * @param stored ids of the keys that have wrapped data keys; empty: nothing is sealed yet
 * @returns `keys`: of the host's own file, they follow its rotation. `made`: the file is new, and backups need it from now on
 * @throws {SettingsError} `masterKey`, for a text or file that holds no key, and for a foreign or missing key, whose id it names
 */
export async function openMasterKeys(
  source: MasterKeySource,
  stored: readonly string[],
): Promise<{ keys: MasterKeys; made: boolean }> {
  const found = await readMasterKeys(source, stored)
  requireMasterKeys(found.keys, stored)
  if (!isOwn(source)) return found
  return { ...found, keys: currentMasterKeys(found.keys, () => rereadMasterKeyFile(source.own)) }
}

/**
 * The master keys of a rotation, of which the first is the new one. The host's own file gets it as a new line here. Any other
 * source must have it already, and the host must have been started with it.
 *
 * @throws {SettingsError} `masterKey`, as `openMasterKeys`; nothing was changed
 */
export async function keysForRotation(source: MasterKeySource, stored: readonly string[]): Promise<MasterKeys> {
  const { given, file, own } = source
  const keys = given === null ? await readMasterKeyFile(file ?? own) : parseMasterKeys(given)
  requireMasterKeys(keys, stored)
  // A rotation that was interrupted has added its line: the first key wraps nothing yet.
  const isAhead = stored.length > 0 && !stored.some((id) => id === keys.ids[0])
  return isOwn(source) && !isAhead ? addMasterKey(own) : keys
}

function isOwn({ given, file }: MasterKeySource): boolean {
  return given === null && file === null
}

async function readMasterKeys(
  { given, file, own }: MasterKeySource,
  stored: readonly string[],
): Promise<{ keys: MasterKeys; made: boolean }> {
  if (given !== null) return { keys: parseMasterKeys(given), made: false }
  if (file !== null) return { keys: await readMasterKeyFile(file), made: false }
  // A new key could not open what the lost one has sealed.
  if (stored.length === 0) {
    const keys = await createMasterKeyFile(own)
    if (keys !== null) return { keys, made: true }
  }
  try {
    return { keys: await readMasterKeyFile(own), made: false }
  } catch (error) {
    if (stored.length === 0) throw error
    const ids = [...new Set(stored)].join(', ')
    const cause = error instanceof Error ? error.message.split('masterKey: ').at(-1) : ''
    throw masterKeyFault(`The environment of spaces is sealed under ${ids}. ${cause}`)
  }
}

/**
 * The master keys of a running host whose file may get another line: the tool adds one, and wraps the data keys again.
 *
 * They are read again before a new data key is wrapped or a backup is signed, which is rare, and when an unknown one is named. So after
 * a rotation nothing is wrapped under the former key, whose line the operator then removes.
 *
 * @param reread null when the file cannot be read now; then the known keys stay
 */
function currentMasterKeys(keys: MasterKeys, reread: () => MasterKeys | null): MasterKeys {
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
