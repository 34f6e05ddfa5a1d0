import { z } from 'zod'
import { SettingsError } from '../errors.js'
import type { Principal } from '../model/principal.js'
import { duration, faultsOf, orNull, sentenceOf } from './field.js'
import { dotted } from './snapshot.js'

/** What `auth.require` takes: everything that is given must hold. */
export interface RequirementInput {
  /** A signed-in user with one of these roles. */
  roles?: readonly string[]
  /** The access an API token must give; others have it. */
  access?: 'READ' | 'READWRITE'
  /** Credentials that will do. */
  kinds?: readonly Principal['kind'][]
  /** A user who signed in this short a time ago: `'10m'`. */
  recent?: string
}

/** The same, parsed. null: not asked for. */
export interface Requirement {
  roles: readonly string[] | null
  access: 'READ' | 'READWRITE' | null
  kinds: readonly Principal['kind'][] | null
  recentSeconds: number | null
}

const requirement = z.strictObject({
  roles: orNull(z.array(z.string().min(1)).nonempty({ error: 'must not be empty' }).readonly()),
  access: orNull(z.enum(['READ', 'READWRITE'])),
  kinds: orNull(
    z
      .array(z.enum(['session', 'apiToken', 'jwt', 'hook']))
      .nonempty({ error: 'must not be empty' })
      .readonly(),
  ),
  recent: orNull(duration('1m', '90d')),
})

/**
 * Reads what a route requires.
 *
 * @throws {SettingsError} when it is nothing that could be required: a typo must not leave a route open
 */
export function parseRequirement(input: RequirementInput): Requirement {
  const result = requirement.safeParse(input, { error: sentenceOf })
  if (result.success) {
    const { roles, access, kinds, recent } = result.data
    return Object.freeze({ roles, access, kinds, recentSeconds: recent })
  }
  throw new SettingsError(
    result.error.issues
      .flatMap(faultsOf)
      .map(({ path, message }) => ({ setting: dotted(['require', ...path]), message })),
  )
}
