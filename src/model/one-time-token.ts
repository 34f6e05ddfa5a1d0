/** What a mailed or typed secret may be used for. A secret of one purpose is invalid for another. */
export type OneTimePurpose =
  | 'registration'
  | 'email_verification'
  | ResetPurpose
  | 'otp'
  | 'two_factor'
  | 'two_factor_enrolment'
  | 'passkey_challenge'
  | 'passkey_claimed'
  | 'email_change'
  | 'email_undo'
  | 'account_deletion'
  | 'oauth_state'
  | 'oauth_landed'
  | 'oauth_identity'
  | 'oauth_link'
  | 'oauth_linking'
  | 'device'
  | 'device_claimed'

/** Of the links that lead to setting a password. A reset does not replace an invitation. */
export type ResetPurpose = 'password_reset' | 'invite'

/**
 * A secret that is mailed or typed once. Only keyed digests are stored, each naming its key (`<key id>.<digest>`).
 * Times are Unix seconds.
 */
export interface OneTimeToken {
  id: string
  purpose: OneTimePurpose
  /**
   * Whom it is for. A registration: the canonical address and a digest of the network that asked. A decoy for an address
   * without an account: the address. A sign-in at a provider or by passkey: the digest of the
   * browser's handle. A device approval: the
   * address of the client that asked, of IPv6 its /64; or `unknown address`. Everything else: the user id.
   */
  subject: string
  userId: string | null
  /** The canonical address that it was mailed to; empty if it was not mailed. */
  email: string
  /** Digest of the token in the mail's link. */
  tokenHash: string
  /** Digest of the code in the mail. */
  codeHash: string | null
  /** Digest of the handle that the asking browser holds. */
  handleHash: string | null
  /** Sealed text that the flow needs again when the token comes back. */
  payload: string | null
  tries: number
  createdAt: number
  expiresAt: number
}
