/** What a mailed or typed secret may be used for; a secret of one purpose is worth nothing for another. */
export type OneTimePurpose =
  | 'registration'
  | 'email_verification'
  | 'password_reset'
  | 'otp'
  | 'two_factor'
  | 'two_factor_enrolment'
  | 'email_change'
  | 'email_undo'
  | 'oauth_state'
  | 'oauth_landed'
  | 'oauth_identity'
  | 'oauth_link'
  | 'oauth_linking'

/**
 * Anything mailed or typed once. Only keyed digests are kept, each naming its key (`<key id>.<digest>`).
 * Times are Unix seconds.
 */
export interface OneTimeToken {
  id: string
  purpose: OneTimePurpose
  /**
   * Whom it is for: the canonical address of a registration or decoy, the browser (digest of its handle) of a sign-in at
   * a provider, the user id of everything else.
   */
  subject: string
  userId: string | null
  /** The canonical address it was mailed to; empty where none was. */
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
