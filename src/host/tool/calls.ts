import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import { listAdminTokens, removeAdminToken, removeAllAdminTokens } from '../flows/people/admin-tokens.js'
import { type AppointPorts, appointAdmin } from '../flows/people/first-admin.js'
import { namesOver } from '../flows/people/step.js'
import { rotateKeys } from '../flows/spaces/environment.js'
import type { Folder } from '../folder/folder.js'
import { keysForRotation } from '../sealing/master-key-source.js'
import type { HostNouns } from '../store/host-nouns.js'

type HostToolPorts = AppointPorts & Pick<Ports, 'clock' | 'random'> & HostNouns

export interface KeyRotationInput {
  /** Makes new data keys and seals every value again. */
  deep: boolean
  /** The text of `LATCHKEY_MASTER_KEY`. */
  masterKey: string | null
  masterKeyFile: string | null
}

export interface KeyRotation {
  /** Of the master key that wraps from now on. */
  keyId: string
  /** Ids of the other master keys. They wrap nothing any more. */
  formerKeyIds: readonly string[]
  /** How many data keys changed. */
  spaces: number
  /** The file with the keys; null: the environment gives them. */
  file: string | null
}

/** What the tool does in the folder of a host, besides what it does with its accounts. */
export type HostToolCalls = ReturnType<typeof bindHostCalls>

export function bindHostCalls(ports: HostToolPorts, { folder, visitor }: { folder: Folder; visitor: Visitor }) {
  const named = { ...ports, spaces: namesOver(ports.spaces) }
  return {
    createAdmin: (email: string, password: string | null) => appointAdmin(ports, { email, password, visitor }),
    listAdminTokens: () => listAdminTokens(named),
    removeAdminToken: (id: string) => removeAdminToken(ports, { id, visitor }),
    removeAllAdminTokens: () => removeAllAdminTokens(ports, { confirm: 'all', visitor }),
    async rotateKeys({ deep, masterKey, masterKeyFile }: KeyRotationInput): Promise<KeyRotation> {
      const source = { given: masterKey, file: masterKeyFile, own: folder.masterKey }
      const keys = await keysForRotation(source, await ports.environment.wrappingKeys())
      const spaces = await rotateKeys(ports, { keys, deep, visitor })
      const [keyId = '', ...formerKeyIds] = keys.ids
      return { keyId, formerKeyIds, spaces, file: masterKey === null ? (masterKeyFile ?? folder.masterKey) : null }
    },
  }
}
