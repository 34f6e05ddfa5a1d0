import { z } from 'zod'
import type { Duration } from '../lib/duration.js'
import { parseEmailAddress } from '../lib/email-address.js'
import { duration, either, list, orNull, shortText, text } from './field.js'
import { path } from './paths.js'

export interface AdminInput {
  /** Addresses whose accounts have the role ADMIN while the address is proved. Default: none. */
  emails?: readonly string[] | undefined
  /** Serve the control API and the admin pages. Default: true if `emails` is not empty. */
  enabled?: boolean | undefined
  /** Path of the admin pages, below `basePath`; false: no pages. Default: `/auth/admin`. */
  page?: string | false | undefined
  /** How recent the sign-in must be for a change that needs a recent one. Default: `10m`. From 1m to 1h. */
  recent?: Duration | undefined
  /** Administrators need a session with a second factor. Default: true, in development false. */
  twoFactor?: boolean | undefined
  /** Administrators may act as a user. Default: false. */
  impersonation?: false | ImpersonationInput | undefined
}

export interface ImpersonationInput {
  /** How long it lasts at most. Default: `30m`. From 1m to 1h. */
  lifetime?: Duration | undefined
  /** Mail the user when it ends. Default: true. */
  notify?: boolean | undefined
  /** Users with one of these roles cannot be impersonated; administrators never can. Default: none. */
  exceptRoles?: readonly string[] | undefined
}

const emailAddress = text('must be an email address', (value) => parseEmailAddress(value)?.canonical ?? null)

const off = z.literal(false).transform(() => null)

const impersonation = z.strictObject({
  lifetime: duration('1m', '1h').prefault('30m'),
  notify: z.boolean().default(true),
  exceptRoles: list(shortText(64)),
})

/** How an administrator may impersonate a user. */
export type Impersonation = z.output<typeof impersonation>

/** `page` and `impersonation` may be false. Then they are null afterwards; a page that is not given is undefined. */
export const admin = z.strictObject({
  emails: list(emailAddress),
  enabled: orNull(z.boolean()),
  page: either<false | string, string | null>((value) => (value === false ? off : path)).optional(),
  recent: duration('1m', '1h').prefault('10m'),
  twoFactor: orNull(z.boolean()),
  impersonation: either<false | z.input<typeof impersonation>, Impersonation | null>((value) =>
    value === false ? off : impersonation,
  ).prefault(false),
})
