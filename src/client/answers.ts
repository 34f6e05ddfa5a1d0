import type { SessionAnswer } from '../model/session-answer.js'

/** The answer of every sign-in: a session, or what the second step needs. */
export type SignInAnswer = SessionAnswer | TwoFactorRequired

/** The password or code was right, and a code of the second factor is still to come: `verifyTwoFactor`. */
export interface TwoFactorRequired {
  status: 'two_factor_required'
  /** This browser also holds it in a cookie, so your code need not pass it to `verifyTwoFactor`. */
  challenge: string
  methods: readonly string[]
}

/**
 * `verification_sent`: a mail with a link and a code is on its way, see `verifyEmail`. `mailSent: false`: the account exists,
 * but the mail limit refused its mail; `retryAfter` is in seconds.
 */
export type SignUpAnswer = (SessionAnswer & { mailSent?: false; retryAfter?: number }) | { status: 'verification_sent' }

export interface Credentials {
  email: string
  password: string
}

/** Registration: the extra fields are those that `registration.fields` of the server allows. */
export interface NewAccount extends Credentials {
  name?: string
  [field: string]: unknown
}

/** The code of a mail with the address that it went to, or the token of the mail's link. */
export type MailedProof = { email: string; code: string } | { token: string }
