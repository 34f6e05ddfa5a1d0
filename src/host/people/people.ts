import type { Keyring } from '../../lib/keyring.js'
import type { Ports } from '../../ports.js'
import type { PeopleNouns } from '../store/people.js'
import { createAdminTokenCheck, createLastUses } from './admin-tokens.js'
import { createRightsMemory, type RightsOptions } from './rights.js'

export interface PeopleOptions extends Pick<RightsOptions, 'subscribe' | 'timer'> {
  nouns: PeopleNouns
  keyring: Keyring
  limiter: Ports['limiter']
  clock: Ports['clock']
  policy: Pick<Ports['policy'], 'access'>
}

/** Who may administer the project, from memory that the change feed keeps current. */
export interface People extends Pick<Ports, 'rights'> {
  adminTokens: NonNullable<Ports['adminTokens']>
  /** Resolves when every change that this process knows of is in force here. Never rejects. */
  inForce(): Promise<void>
  /** Writes the last uses of admin tokens. */
  close(): Promise<void>
}

/** @throws {AuthError} `store_unavailable` when the rights cannot be read */
export async function openPeople({ nouns, policy, ...options }: PeopleOptions): Promise<People> {
  const { projectRights, projectTokens } = nouns
  const memory = await createRightsMemory({ ...options, projectRights })
  const lastUses = createLastUses(projectTokens, options.timer)
  const { knowsClients } = policy.access
  const adminTokens = createAdminTokenCheck({ ...options, projectTokens, rights: memory, lastUses, knowsClients })
  return {
    rights: memory.rights,
    adminTokens,
    inForce: memory.inForce,
    async close() {
      memory.close()
      await lastUses.close()
    },
  }
}
