import type { ProviderAccount } from './provider.js'
import { refuse } from './questions.js'

/** OpenID Connect Core §2: ASCII, at most 255 characters. Blanks at an end would be lost in some databases. */
const idText = /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/

/** Reads the account id that a provider sends. @throws {ProviderFault} when it is not a valid id */
export function accountId(value: unknown): string {
  return typeof value === 'string' && idText.test(value) ? value : refuse('no_id')
}

/** A text that is not empty; null for anything else. */
export function textOf(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value : null
}

/** Claims of a provider, by their names in OpenID Connect (Core §5.1). */
export type Claims = Readonly<Record<string, unknown>>

/** The account that the claims describe. Only the boolean `true` counts as verified: the text `"true"` may come from a user. */
export function accountOf(claims: Claims, trusted: (email: string) => boolean): ProviderAccount {
  const email = textOf(claims.email)
  const emailVerified = typeof claims.email_verified === 'boolean' ? claims.email_verified : null
  return {
    id: accountId(claims.sub),
    email,
    emailVerified: email === null ? null : emailVerified,
    authoritative: email !== null && emailVerified === true && trusted(email),
    name: textOf(claims.name),
  }
}
