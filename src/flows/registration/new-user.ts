import type { UserRecord } from '../../model/user.js'
import type { Ports } from '../../ports.js'
import type { Applicant } from './draft.js'

/** A new user as it is first written. The caller sets `passwordHash`, `emailVerified` and `verifiedBy`. */
export function newUser(
  ports: Pick<Ports, 'clock' | 'random'>,
  from: { email: string; canonical: string; name: string | null; fields: Readonly<Record<string, unknown>> },
): UserRecord {
  return {
    id: ports.random.id(),
    email: from.email,
    emailCanonical: from.canonical,
    emailVerified: false,
    verifiedBy: null,
    name: from.name,
    passwordHash: null,
    roles: [],
    fields: from.fields,
    version: 1,
    disabledAt: null,
    disabledUntil: null,
    disabledReason: null,
    mustReset: false,
    factors: [],
    identities: [],
    createdAt: ports.clock.now(),
    lastLoginAt: null,
  }
}

/** How far the application's own word verifies the address of a new account. */
export function provedByApplication(emailVerified: boolean): Pick<UserRecord, 'emailVerified' | 'verifiedBy'> {
  return { emailVerified, verifiedBy: emailVerified ? 'application' : null }
}

/** How a confirmed applicant registered, and what the session has proved (RFC 8176). Without a password that is the mail. */
export function wayIn({ identity, passwordHash }: Applicant): { method: string; proof: string } {
  if (identity) return { method: `oauth:${identity.provider}`, proof: 'fed' }
  return passwordHash === null ? { method: 'passkey', proof: 'otp' } : { method: 'password', proof: 'pwd' }
}
