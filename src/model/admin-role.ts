/** The role of administrators. It is computed wherever roles are read, never stored and never a claim of a token. */
export const adminRole = 'ADMIN'

/** What proved the address of an account, or what is known of it before. */
export type VerifiedBy =
  /** A mailed link or code of ours. */
  | 'mailbox'
  /** A provider that is the authority for the address. */
  | 'provider'
  /** The application's own code, or its owner by `latchkey create-admin`. */
  | 'application'
  /** Only the setting `trustEmail`, which proves nothing to us. */
  | 'trusted_provider'
  /** Nothing yet: an administrator invited the user and chose the name. */
  | 'invitation'

/** Those that prove an address, as the role ADMIN needs it. */
export const provingWays = ['mailbox', 'provider', 'application'] as const satisfies readonly VerifiedBy[]

/** Whether the address of an account is proved, as the role ADMIN needs it. The setting `trustEmail` alone proves nothing. */
export function isProved(account: { emailVerified: boolean; verifiedBy: VerifiedBy | null }): boolean {
  return account.emailVerified && provingWays.some((way) => way === account.verifiedBy)
}

/**
 * The roles of an account: its own, and ADMIN while `adminEmails` holds its address and the address is proved. An ADMIN that
 * was stored by other means is left out.
 *
 * @param adminEmails `admin.emails`, canonical
 */
export function rolesOf(
  account: { emailCanonical: string; emailVerified: boolean; verifiedBy: VerifiedBy | null; roles: readonly string[] },
  adminEmails: readonly string[],
): readonly string[] {
  return withAdmin(account.roles, isProved(account) && adminEmails.includes(account.emailCanonical))
}

/** The same list where nothing changes, since thousands of tokens share theirs. */
export function withAdmin(roles: readonly string[], isAdmin: boolean): readonly string[] {
  const own = roles.includes(adminRole) ? roles.filter((role) => role !== adminRole) : roles
  if (isAdmin) return Object.freeze([...own, adminRole])
  return own === roles ? roles : Object.freeze(own)
}
