import { z } from 'zod'
import { SettingsError } from '../errors.js'
import type { Duration } from '../lib/duration.js'
import type { Principal } from '../model/principal.js'
import { duration, faultsOf, orNull, sentenceOf } from './field.js'
import { dotted } from './snapshot.js'

/** What `auth.require` takes: everything that is given must hold. */
export interface RequirementInput {
  /** A signed-in user with one of these roles. */
  roles?: readonly string[]
  /** The access an API token must give; others have it. */
  access?: 'READ' | 'READWRITE'
  /** The kinds of principals that are accepted. */
  kinds?: readonly Principal['kind'][]
  /** The longest time since the sign-in: `'10m'`. */
  recent?: Duration
  /** false: refuse requests of an administrator who impersonates the user. */
  actor?: false
}

/** The same, parsed. null: not asked for. */
export interface Requirement {
  roles: readonly string[] | null
  access: 'READ' | 'READWRITE' | null
  kinds: readonly Principal['kind'][] | null
  recentSeconds: number | null
  actor: false | null
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
  actor: orNull(z.literal(false)),
})

/**
 * Reads what a route requires.
 *
 * @throws {SettingsError} if it names an unknown requirement: a typo must not leave a route open
 */
export function parseRequirement(input: RequirementInput): Requirement {
  const result = requirement.safeParse(input, { error: sentenceOf })
  if (result.success) {
    const { roles, access, kinds, recent, actor } = result.data
    return Object.freeze({ roles, access, kinds, recentSeconds: recent, actor })
  }
  throw new SettingsError(
    result.error.issues
      .flatMap(faultsOf)
      .map(({ path, message }) => ({ setting: dotted(['require', ...path]), message })),
  )
}
